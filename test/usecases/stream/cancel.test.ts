import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { contentText } from '#shared/models/content.ts';
import { createManualClock, slowWrites } from '#test/fakes/manual-clock.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { cancel, collect, request, textOf } from '#test/support/chat/sending.ts';
import {
  pass,
  openStream,
  sayEach,
  settle,
  steeredChat,
  storedTurn,
  typesOf,
  silentModel,
  stoppable,
  speaking,
} from '#test/support/chat/streaming.ts';
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';

/** An answer of which two words have been said. */
async function halfSaid(overrides: Partial<ChatDependencies> = {}) {
  const spoken = await speaking(overrides);
  await sayEach(spoken.clock, spoken.call, ['Half an ', 'answer']);
  return spoken;
}

test('cancelling this instance’s running turn stops the model and returns the turn', async () => {
  const { dependencies, conversationId, call } = await halfSaid();

  const turn = await cancel(dependencies, conversationId);

  expect(call.signal.aborted).toBe(true);
  expect(turn).toMatchObject({ state: 'cancelled', inContext: true, cancelRequested: true });
  expect(turn.contents.map(contentText)).toEqual(['Half an answer']);
});

test('a cancellation is answered when the turn has ended, however long that takes', async () => {
  const { dependencies, conversationId } = await halfSaid({
    store: createMemoryDocumentStore(slowWrites()),
  });

  const turn = await cancel(dependencies, conversationId);

  expect(turn.state).toBe('cancelled');
});

test('cancelling another instance’s turn ends it within a second while the model speaks', async () => {
  const { store, clock, conversationId, handle, call } = await halfSaid();
  const other = chatDependencies({ store, clock });

  await cancel(other, conversationId);
  for (let i = 0; i < 20; i++) await sayEach(clock, call, ['word ']);
  await pass(clock, 200);

  expect((await handle.result).turn.state).toBe('cancelled');
});

test.each([
  ['an answer', textAnswer('Done.')],
  ['a failure', { error: new Error('no') }],
])('cancelling a turn ended by %s is refused and changes nothing', async (_, answer) => {
  const dependencies = chatDependencies({ model: scriptedStreamer(answer).model });
  const conversationId = randomUUID();
  const handle = await sendMessage(dependencies, request(conversationId, 'x'));
  await handle.result.catch(() => undefined);
  const before = await storedTurn(dependencies, conversationId);

  await expect(cancel(dependencies, conversationId)).rejects.toMatchObject({
    status: 'FAILED_PRECONDITION',
    reason: 'TURN_FINISHED',
  });

  expect(await storedTurn(dependencies, conversationId)).toEqual(before);
});

test('cancelling a queued turn is immediate, keeps its place and shows readers the abort', async () => {
  const { dependencies, store, conversationId, clock, call, handle } = await halfSaid();
  const queued = { ...request(conversationId, 'Wait.'), onBusy: 'queue' as const };
  const waiting = await sendMessage(dependencies, queued);
  await settle();
  const reader = collect(await openStream(dependencies, { conversationId, seq: 2 }));

  const turn = await cancel(dependencies, conversationId, 2);
  await pass(clock, 2_000, 100);

  expect(turn).toMatchObject({ seq: 2, state: 'cancelled', inContext: false });
  expect(typesOf(await reader)).toEqual(['start', 'data-context', 'abort', 'finish']);
  expect((await waiting.result).turn.state).toBe('cancelled');
  expect((await readConversation(store, conversationId))?.value.open?.seq).toBe(1);
  call.end();
  expect((await handle.result).turn.state).toBe('done');
});

test('cancelling a silent dead instance’s turn ends it at once', async () => {
  const store = createMemoryDocumentStore();
  const clock = createManualClock();
  const conversationId = randomUUID();
  const process = stoppable({ store, clock });
  const { dependencies: dead } = steeredChat({ store: process.store, clock: process.clock });
  await sendMessage(dead, request(conversationId, 'Tell me.'));
  process.stop();
  clock.advance(20_001);

  const turn = await cancel(chatDependencies({ store, clock }), conversationId);

  expect(turn).toMatchObject({ state: 'cancelled', inContext: false });
  expect((await readConversation(store, conversationId))?.value.open).toBeUndefined();
});

/** Two words are said and stored; then nobody answers any more. */
async function died() {
  const chat = await halfSaid();
  const { store, clock } = chat;
  await pass(clock, 600);
  chat.process.stop();
  chat.call.say('!'.repeat(2_000));
  await settle();
  const alive = chatDependencies({ store, clock, model: silentModel() });
  return { ...chat, alive };
}
const partial = { state: 'cancelled', attempt: 1, inContext: true };

test('cancelling a dead instance’s turn in mid-answer keeps and replays its text', async () => {
  const { alive, clock, conversationId, send } = await died();
  clock.advance(20_001);

  const turn = await cancel(alive, conversationId);

  expect(turn).toMatchObject(partial);
  expect(turn.tokens.answer).toBeGreaterThan(0);
  expect(turn.contents.map(contentText)).toEqual(['Half an answer']);
  const again = await sendMessage(alive, send);
  expect(textOf(await collect(again.frames()))).toBe('Half an answer');
});
