import {
  deleteConversation,
  eraseOwnConversation,
  undeleteConversation,
} from '#functions/chat/conversations/erase/delete-conversation.ts';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { eraseConversation } from '#functions/erasure/erase-conversation.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { readAnyConversation } from '#shared/conversation/context/read-conversation.ts';
import { StoreUnavailableError } from '#shared/errors.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { request } from '#test/support/chat/sending.ts';
import { pass, settle, steeredChat, stoppable, storedTurn } from '#test/support/chat/streaming.ts';
import { neverAborted, compactionBench } from '#test/support/compaction/compacted-conversation.ts';
import { storedChunks } from '#test/support/speaking.ts';
import { expect, test } from 'vitest';

const conversationId = 'c';
const own = { caller: { uid: 'u1', tier: 'signedIn' } as const, conversationId };

/** An instance that answers, and the others, on one store. */
async function answering() {
  const clock = createManualClock();
  const store = createMemoryDocumentStore();
  const process = stoppable({ store, clock });
  let isDeaf = false;
  const producer = steeredChat({
    clock: process.clock,
    store: {
      ...process.store,
      get: (paths) =>
        isDeaf
          ? Promise.reject(new StoreUnavailableError({ operation: 'get' }))
          : process.store.get(paths),
    },
  });
  const { result } = await sendMessage(producer.dependencies, request(conversationId, 'Tell me.'));
  result.catch(() => undefined);
  const other = chatDependencies({ store, clock });
  const bench = compactionBench({ store, clock });
  let isErased = false;
  return {
    clock,
    store,
    process,
    other,
    call: await producer.call(),
    /** Its reads fail from now on: it does not hear that the turn is no longer its own. */
    deafen: () => void (isDeaf = true),
    erase: async () => {
      await eraseOwnConversation(other, own);
      void eraseConversation(bench, conversationId, neverAborted()).then(() => (isErased = true));
      await settle();
    },
    isErased: () => isErased,
    chunks: () => storedChunks(store, conversationId),
  };
}

test('an erasure takes what a producer that does not hear of it appends, and outlasts its lease', async () => {
  const { clock, store, call, deafen, erase, isErased, chunks } = await answering();
  deafen();
  await erase();

  call.say('Said to nobody.');
  await pass(clock, 700);
  expect(await chunks()).toHaveLength(1);
  expect(isErased()).toBe(false);
  for (let passed = 0; passed < 20_000; passed += 500) {
    call.say('More.');
    await pass(clock, 500, 100);
  }

  expect(isErased()).toBe(true);
  expect(await chunks()).toEqual([]);
  expect((await readAnyConversation(store, conversationId))?.value.state).toBe('erased');
});

test('a producer that cannot renew its lease appends nothing in its second half', async () => {
  const { clock, call, deafen, erase, chunks } = await answering();
  deafen();
  await pass(clock, 4_000);
  await erase();
  await pass(clock, 6_500, 100);
  const before = (await chunks()).length;

  call.say('Too late.');
  await pass(clock, 5_000, 100);

  expect(await chunks()).toHaveLength(before);
});

test('a chunk that reaches the database behind the erasure is taken back', async () => {
  const { clock, process, call, erase, isErased, chunks } = await answering();
  call.say('Held up.');
  await pass(clock, 500);
  const goOn = process.stop();
  await erase();
  await pass(clock, 25_000, 500);
  expect(isErased()).toBe(true);

  goOn();
  await pass(clock, 3_000);

  expect(await chunks()).toEqual([]);
});

test('a message is not deleted while its producer may append to its stream', async () => {
  const { clock, other, call, deafen, chunks } = await answering();
  call.say('Half an answer');
  await pass(clock, 600);
  deafen();
  await deleteConversation(other, own);
  await undeleteConversation(other, own);
  const asked = { ...own, messageId: 'm_1' };

  await expect(deleteMessage(other, asked)).rejects.toMatchObject({ reason: 'TURN_IN_PROGRESS' });
  await pass(clock, 21_000, 500);
  await deleteMessage(other, asked);

  expect(await chunks()).toEqual([]);
  expect((await storedTurn(other, conversationId)).contents).toEqual([]);
});
