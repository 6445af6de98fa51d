import { expect, test } from 'vitest';
import { contentText } from '#shared/conversation/documents/content.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { scriptedStreamer, textAnswer } from '../fakes/scripted-streamer.ts';
import { chatDependencies } from '../support/chat/chat-dependencies.ts';
import { sendAll } from '../support/chat/sending.ts';
import { compactOnce } from '../support/compaction/compacted-conversation.ts';
import { foundIn, verifyWorld } from '../support/compaction/verifying.ts';
import { answeredDocument, answeredDocuments } from '../support/import/extension.ts';
import { readImported, run, storedDiscussion } from '../support/import/import-world.ts';

const PARROTS = 'The landlady keeps green parrots, which wake me early.';
const filler = ', which is about a harbour, a market and a bridge over the river.'.repeat(4);

/** A discussion over the threshold of its chat, whose first message tells of parrots; imported. */
async function imported() {
  const store = createMemoryDocumentStore();
  const { model, requests } = scriptedStreamer(textAnswer('Fine.'));
  const chat = chatDependencies({ store, model }, { THRESHOLD_TOKENS: '1000' });
  const { bench } = verifyWorld(store);
  const world = { store, chat, bench: { ...bench, config: chat.config }, tree: undefined };
  const { conversationId } = await storedDiscussion(world, {
    ...answeredDocuments(30, filler),
    first: answeredDocument(0, PARROTS, 'Earplugs may help.'),
  });
  await run(world, '--yes');
  return { world, chat, requests, conversationId };
}

test('an imported conversation over its threshold is compacted after its next message, not before', async () => {
  const { world, chat, conversationId } = await imported();
  const before = await readImported(world, conversationId);
  const found = await foundIn(world, conversationId);
  await sendAll(chat, conversationId, ['And the market?']);
  const after = await readImported(world, conversationId);
  await compactOnce(world.bench, conversationId);

  expect(before?.compactionRequests).toEqual({});
  expect(before?.context.tokens).toBeGreaterThan(1_000);
  expect(found).toEqual([]);
  expect(after?.compactionRequests.auto?.trigger).toBe('auto');
  expect((await readConversation(world.store, conversationId))?.value.generation).toBe(1);
  expect(await foundIn(world, conversationId)).toEqual([]);
});

test('an imported turn that was folded is recalled for a message about it', async () => {
  const { world, chat, requests, conversationId } = await imported();
  await sendAll(chat, conversationId, ['And the market?']);
  await compactOnce(world.bench, conversationId);

  await sendAll(chat, conversationId, ['Who keeps parrots?']);

  const last = requests.at(-1)?.contents.at(-1);
  expect(last && contentText(last)).toContain(`\n2025-03-01\nuser: ${PARROTS}\n`);
});
