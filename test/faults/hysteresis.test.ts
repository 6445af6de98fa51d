import { createScriptedModel, snapshotAnswer } from '../fakes/scripted-model.ts';
import { scriptedStreamer } from '../fakes/scripted-streamer.ts';
import { chatDependencies } from '../support/chat/chat-dependencies.ts';
import { sendAll } from '../support/chat/sending.ts';
import {
  buildDue,
  compactOnce,
  see,
  THRESHOLD_TOKENS,
} from '../support/compaction/compacted-conversation.ts';
import { compactionBench } from '../support/compaction/compaction-dependencies.ts';
import { storedConversation } from '../support/processes/fault-stack.ts';
import { expect, test } from 'vitest';

/** A compaction whose result is larger than the threshold and far smaller than what it replaced. */
async function compactedOverThreshold() {
  const bench = compactionBench({
    model: createScriptedModel({
      answers: [snapshotAnswer()],
      count: (prompt) => Promise.resolve(prompt.contents.length > 30 ? 9_000 : 1_400),
    }),
  });
  const conversationId = await buildDue(bench);
  await compactOnce(bench, conversationId);
  return { bench, conversationId };
}

const usageOf = (promptTokens: number) => ({
  promptTokens,
  cachedTokens: 0,
  outputTokens: 1,
  thoughtsTokens: 0,
});
const answerAt = (promptTokens: number) => ({
  chunks: [{ parts: [{ text: 'Fine.' }], finishReason: 'STOP', usage: usageOf(promptTokens) }],
});

test('a snapshot over the threshold is not compacted again until the context has grown', async () => {
  const { bench, conversationId } = await compactedOverThreshold();
  const sizes = [1_410, 1_450, 1_500, 1_550];
  const model = scriptedStreamer(...sizes.map(answerAt), answerAt(1_800)).model;
  const chat = chatDependencies({ store: bench.store, model });

  await sendAll(chat, conversationId, ['one', 'two', 'three', 'four']);
  const quiet = await storedConversation(bench.store, conversationId);
  await sendAll(chat, conversationId, ['five']);

  const { history: snapshot } = await see(bench.store, conversationId);
  expect(snapshot?.afterTokens).toBeGreaterThan(THRESHOLD_TOKENS);
  expect(quiet.compactionRequests).toEqual({});
  expect(
    (await storedConversation(bench.store, conversationId)).compactionRequests.auto,
  ).toBeDefined();
});
