import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { createMemoryCache } from '#functions/adapters/memory-cache.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { see } from '#test/support/compaction/compacted-conversation.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';

const TAIL_TURNS = 20;
const NEW_TURNS = 10;

/** A store that counts the documents that pass through it. */
function countingStore() {
  const counts = { read: 0, written: 0 };
  const store: DocumentStore = createMemoryDocumentStore({
    beforeOperation: (operation) => {
      if (operation.name === 'get') counts.read += operation.paths.length;
      if (operation.name === 'commit') counts.written += operation.writes.length;
      return Promise.resolve();
    },
  });
  return { store, counts };
}

/** Documents that ten turns read and write on a conversation whose turns but the last twenty are folded. */
async function documentsOfTenTurns(pastTurns: number) {
  const { store, counts } = countingStore();
  const { conversationId } = await buildConversation(store, {
    turns: pastTurns,
    conversation: { coveredThrough: { seq: pastTurns - TAIL_TURNS, contentIndex: 0 } },
  });
  const dependencies = chatDependencies({
    store,
    cache: createMemoryCache({ maxBytes: 10_000_000 }),
  });
  Object.assign(counts, { read: 0, written: 0 });
  for (let i = 0; i < NEW_TURNS; i++) {
    const handle = await sendMessage(dependencies, {
      caller: { uid: 'u1', tier: 'signedIn' },
      conversationId,
      message: { id: randomUUID(), parts: [{ text: `message ${i}` }] },
    });
    await handle.result;
  }
  return { ...counts };
}

test('ten turns read and write as many documents on 2,000 past turns as on 100', async () => {
  const [short, long] = [await documentsOfTenTurns(100), await documentsOfTenTurns(2_000)];

  expect(long).toEqual(short);
  // Cold: the tail and the job once; every turn: conversation, guard and the user's notes.
  expect(short.read).toBe(TAIL_TURNS + 1 + NEW_TURNS * 3);
  // Start: conversation, guard, turn and the entry of the inbox; finish: turn, conversation, entry, and the chunk that
  // holds the short stream.
  expect(short.written).toBe(NEW_TURNS * 8);
}, 60_000);

test('a tail of seven hundred turns is read whole', async () => {
  const store = createMemoryDocumentStore();
  const turns = Array.from({ length: 700 }, (_, index) => ({
    user: `Question ${index + 1}`,
    answer: 'Yes.',
  }));
  const { conversationId } = await buildConversation(store, { turns });

  const { items } = await see(store, conversationId);

  const questions = items.flatMap(({ content }) =>
    content.role === 'user' ? content.parts.map(({ text }) => text) : [],
  );
  expect(questions).toEqual(turns.map(({ user }) => user));
});
