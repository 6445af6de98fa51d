import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { setConversation } from '#test/support/chat/lifecycle.ts';
import { request, sendAll } from '#test/support/chat/sending.ts';
import {
  compactOnce,
  manualRequest,
  compactionBench,
  storedConversation,
} from '#test/support/compaction/compacted-conversation.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { expect, test } from 'vitest';

const caller = { uid: 'u1', tier: 'signedIn' } as const;

/** Twenty turns of about 130 tokens: over the hard threshold of twice 1,000 tokens. */
async function largeConversation(environment: Record<string, string> = {}) {
  const { model, requests } = scriptedStreamer(textAnswer('Here.'));
  const dependencies = chatDependencies({ model }, { THRESHOLD_TOKENS: '1000', ...environment });
  const { conversationId } = await buildConversation(dependencies.store, {
    turns: 20,
    conversation: { ownerUid: caller.uid, model: 'gemini-3.8-flash' },
  });
  return { dependencies, conversationId, requests };
}

test('a shortened view leaves room for a message that the whole context would not', async () => {
  const { dependencies, conversationId } = await largeConversation({
    MODEL_WINDOWS: '{"gemini-3.8-flash":3000}',
  });

  const handle = await sendMessage(dependencies, request(conversationId, 'word '.repeat(500)));

  expect((await handle.result).turn.state).toBe('done');
});

/** A message that is answered only when `gate` opens; meanwhile its conversation is compacted by hand. */
async function compactedBeside(store = createMemoryDocumentStore()) {
  const gate = Promise.withResolvers<void>();
  const usage = { promptTokens: 5_000, cachedTokens: 0, outputTokens: 10, thoughtsTokens: 0 };
  const { model } = scriptedStreamer({ ...textAnswer('Late.', usage), gate: gate.promise });
  const dependencies = chatDependencies({ model, store }, { THRESHOLD_TOKENS: '2000' });
  const settings = { thresholdTokens: 2_000 };
  const { conversationId } = await buildConversation(store, {
    turns: 20,
    conversation: { ownerUid: caller.uid, settings },
  });
  const handle = await sendMessage(dependencies, request(conversationId, 'And now?'));
  const compactionRequests = { ...manualRequest() };
  await setConversation({ store }, conversationId, { compactionRequests });
  await compactOnce(compactionBench({ store }), conversationId);
  return { dependencies, conversationId, handle, gate };
}

test('a turn after a swap requests nothing and hides no later compaction trigger', async () => {
  const { dependencies, conversationId, handle, gate } = await compactedBeside();

  gate.resolve();
  await handle.result;

  const conversation = await storedConversation(dependencies, conversationId);
  expect(conversation?.generation).toBe(1);
  expect(conversation?.compactionRequests).toEqual({});
  expect(dependencies.published).toEqual([]);
  await sendAll(dependencies, conversationId, ['one more']);
  const later = await storedConversation(dependencies, conversationId);
  expect(later?.compactionRequests.auto).toBeDefined();
});
