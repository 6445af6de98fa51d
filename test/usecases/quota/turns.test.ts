import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { showUsage } from '#functions/chat/routes/usage.ts';
import { cancelTurn } from '#functions/chat/turns/finish/cancel-turn.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createToolbox } from '#functions/chat/turns/tools/toolbox.ts';
import { answerCalls } from '#functions/chat/turns/send/answer-calls.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { heldStreamer, scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { steeredStreamer } from '#test/fakes/steered-streamer.ts';
import { answerOrReason, limitedChat, usageOf } from '#test/support/chat/quotas.ts';
import { answered, request } from '#test/support/chat/sending.ts';
import { settle, stoppable } from '#test/support/chat/streaming.ts';
import { overloaded } from '#test/support/model-down.ts';
import { countingTools, withAppTools } from '#test/support/tools/tool-world.ts';
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';

/** Sends with an instance that is killed once the turn is stored, before its model is asked. */
async function sendAndDie(
  dependencies: ChatDependencies,
  sent: Parameters<typeof sendMessage>[1],
): Promise<void> {
  const { store, clock, stop } = stoppable(dependencies);
  const atCrashPoint: ChatDependencies['atCrashPoint'] = (point) =>
    point === 'turn-reserved' ? Promise.resolve() : new Promise(() => undefined);
  await sendMessage({ ...dependencies, store, clock, liveTurns: new Map(), atCrashPoint }, sent);
  stop();
}

const caller = { uid: 'u1', tier: 'signedIn' } as const;
const guest = { uid: 'u1', tier: 'anonymous' } as const;
const usage = { promptTokens: 300, cachedTokens: 200, outputTokens: 40, thoughtsTokens: 10 };

/** An instance over its own store and a clock that stands still. */
function chatWith(environment: Record<string, string>, overrides: Partial<ChatDependencies> = {}) {
  const { model, requests } = scriptedStreamer(textAnswer('Fine.', usage));
  const clock = createManualClock();
  return { ...limitedChat(environment, { model, clock, ...overrides }), requests };
}

test('a message that waits for the app is counted once, and goes on at the limit', async () => {
  const calls = ['where', 'when'].map((place) => ({
    chunks: [
      {
        parts: [{ functionCall: { name: 'locate', args: { place } } }],
        finishReason: 'STOP',
        usage,
      },
    ],
  }));
  const { model } = scriptedStreamer(...calls, textAnswer('In Oslo.', usage));
  const chat = chatWith({ USER_DAILY_MESSAGES: '1' }, { model });
  const conversationId = randomUUID();
  await withAppTools(chat, conversationId, ['locate']);
  const give = async (callId: string) => {
    const results = [{ callId, kind: 'response' as const, response: { city: 'Oslo' } }];
    const target = { caller, conversationId, turnId: 't_1', locale: undefined };
    return (await (await answerCalls(chat, { ...target, results })).result).turn.state;
  };

  const first = await answerOrReason(chat, conversationId);
  const { messages } = await usageOf(chat.store);
  const other = await answerOrReason(chat, randomUUID());
  const states = [await give('t_1_c0'), await give('t_1_c1')];

  expect([first, other, ...states]).toEqual([
    'awaiting_tool',
    'USER_DAILY_MESSAGES',
    'awaiting_tool',
    'done',
  ]);
  expect(messages).toBe(1);
  expect(await usageOf(chat.store)).toMatchObject({ messages: 1, tokens: 450, open: [] });
});

test('a message that failed after a tool ran and is answered again is charged for each call once', async () => {
  const call = { functionCall: { name: 'weather', args: { city: 'Oslo' } } };
  const { model } = scriptedStreamer(
    { chunks: [{ parts: [call], finishReason: 'STOP', usage }] },
    { chunks: [{ parts: [{ text: 'It ' }], usage }], error: overloaded() },
    textAnswer('It snows.', usage),
  );
  const clock = createManualClock();
  const toolbox = createToolbox(countingTools().tools);
  const chat = chatWith({ USER_DAILY_MESSAGES: '5' }, { model, clock, toolbox });
  const sent = request(randomUUID(), 'How is the weather?');
  await expect((await sendMessage(chat, sent)).result).rejects.toMatchObject({
    reason: 'MODEL_OVERLOADED',
  });
  expect(await usageOf(chat.store)).toMatchObject({ messages: 0, tokens: 300 });
  clock.advance(120_000);

  const { turn } = await (await sendMessage(chat, sent)).result;

  expect(turn).toMatchObject({ state: 'done', attempt: 2 });
  expect(await usageOf(chat.store)).toMatchObject({ messages: 1, tokens: 450, open: [] });
});

test('a message sent again or followed uses no quota', async () => {
  const chat = chatWith({ USER_DAILY_MESSAGES: '1', USER_REQUESTS_PER_MINUTE: '1' });
  const sent = request(randomUUID(), 'Hello');
  const [first, second] = await Promise.all([sendMessage(chat, sent), sendMessage(chat, sent)]);
  await Promise.all([first.result, second.result]);
  const before = await usageOf(chat.store);

  const replayed = await (await sendMessage(chat, sent)).result;

  expect(replayed.replayed).toBe(true);
  expect(await usageOf(chat.store)).toEqual(before);
  expect(before).toMatchObject({ messages: 1, tokens: 150 });
});

test('a message stopped before any reported tokens uses its reservation', async () => {
  const { model, calls } = steeredStreamer();
  const chat = chatWith({ USER_DAILY_MESSAGES: '5' }, { model });
  const conversationId = randomUUID();
  const handle = await sendMessage(chat, request(conversationId, 'Hello'));
  await settle();
  expect(calls).toHaveLength(1);
  const held = (await usageOf(chat.store)).open[0]?.tokens ?? 0;

  await cancelTurn(chat, { caller, conversationId, turnId: 't_1' });
  await handle.result;

  expect(held).toBeGreaterThan(500);
  expect(await usageOf(chat.store)).toMatchObject({ tokens: held, open: [] });
});

test('a dead instance’s message is taken over under its reservation', async () => {
  const store = createMemoryDocumentStore();
  const clock = createManualClock();
  const limits = { USER_DAILY_MESSAGES: '1', STREAMS_PER_USER: '1' };
  const died = limitedChat(limits, { store, clock });
  const sent = request(randomUUID(), 'Hello');
  await sendAndDie(died, sent);
  const chat = chatWith(limits, { store, clock });
  clock.advance(died.config.TURN_LEASE_MS + 1);

  const turn = await answered(chat, sent);

  expect(turn).toMatchObject({ state: 'done', attempt: 2 });
  expect(await usageOf(store)).toMatchObject({ messages: 1, tokens: 150, open: [] });
});

test('a message begun before midnight counts for its day', async () => {
  const { model, answerAll } = heldStreamer();
  const clock = createManualClock(new Date('2026-01-02T23:59:59.000Z'));
  const chat = chatWith({ USER_DAILY_MESSAGES: '1' }, { model, clock });
  const handle = await sendMessage(chat, request(randomUUID(), 'Hello'));
  clock.advance(2_000);
  answerAll();
  await handle.result;

  expect(await usageOf(chat.store)).toMatchObject({ messages: 1, open: [] });
  expect(await usageOf(chat.store, { day: '2026-01-03' })).toMatchObject({ messages: 0 });
  const next = sendMessage(chat, request(randomUUID(), 'Hello'));
  await expect(next).resolves.toMatchObject({ turnId: 't_1' });
  answerAll();
  await (
    await next
  ).result;
});

test('a message given up as its process ends costs what was reserved and frees its place', async () => {
  const { model, call } = steeredStreamer();
  const chat = chatWith({ STREAMS_PER_USER: '1' }, { model });
  const sent = request(randomUUID(), 'Hello');
  const handle = await sendMessage(chat, sent);
  (await call()).say('Half');
  await settle();
  const [reservation] = (await usageOf(chat.store)).open;

  for (const live of chat.liveTurns.values()) live.giveUp();
  await expect(handle.result).rejects.toMatchObject({ reason: 'SHUTTING_DOWN' });

  expect(await usageOf(chat.store)).toMatchObject({
    messages: 0,
    tokens: reservation?.tokens,
    open: [],
  });
});

test('a guest’s usage continues under user limits after sign-in', async () => {
  const chat = chatWith({ ANONYMOUS_DAILY_MESSAGES: '1', USER_DAILY_MESSAGES: '2' });
  const input = (by: typeof caller | typeof guest) => ({
    ...request(randomUUID(), 'Hi'),
    caller: by,
  });
  await answered(chat, input(guest));

  await expect(sendMessage(chat, input(guest))).rejects.toMatchObject({
    reason: 'ANONYMOUS_LIMIT',
    publicMessage: expect.stringContaining('Sign in'),
  });
  await answered(chat, input(caller));
  await expect(sendMessage(chat, input(caller))).rejects.toMatchObject({
    reason: 'USER_DAILY_MESSAGES',
  });
  expect(await showUsage(chat, caller)).toMatchObject({
    limits: { messagesPerDay: { limit: 2, used: 2, reserved: 0, left: 0 } },
  });
});
