import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { answerOrReason, limitedChat, usageOf } from '#test/support/chat/quotas.ts';
import { answered, request } from '#test/support/chat/sending.ts';
import { raceTests } from './race.suite.ts';

const usage = { promptTokens: 300, cachedTokens: 200, outputTokens: 40, thoughtsTokens: 10 };

/** Instances on one database and one clock. */
function world(environment: Record<string, string>) {
  const store = createMemoryDocumentStore();
  const clock = createManualClock();
  const instance = (overrides: Partial<ChatDependencies> = {}) => {
    const { model, requests } = scriptedStreamer(textAnswer('Fine.', usage));
    return { ...limitedChat(environment, { store, clock, model, ...overrides }), requests };
  };
  return { store, clock, instance };
}

test('one message that two instances get at once is reserved once, at every limit', async () => {
  const { store, instance } = world({
    USER_DAILY_MESSAGES: '1',
    USER_REQUESTS_PER_MINUTE: '1',
    STREAMS_PER_USER: '1',
  });
  const sent = request(randomUUID(), 'Hello');
  const [one, other] = [instance(), instance()];
  const handles = await Promise.all([sendMessage(one, sent), sendMessage(other, sent)]);

  const ends = await Promise.all(handles.map(({ result }) => result));

  await Promise.all([...one.afterwork, ...other.afterwork]);
  expect(ends.map(({ turn }) => turn.state)).toEqual(['done', 'done']);
  expect(await usageOf(store)).toMatchObject({ messages: 1, tokens: 150, open: [] });
  expect((await usageOf(store)).begun).toHaveLength(1);
});

const limits = { STREAMS_PER_USER: '1', USER_DAILY_MESSAGES: '1', USER_REQUESTS_PER_MINUTE: '1' };

async function died() {
  const { store, instance } = world(limits);
  const sent = request(randomUUID(), 'Hello');
  const reserved = Promise.withResolvers<undefined>();
  const dying = instance({
    atCrashPoint: (point) => {
      if (point !== 'turn-reserved') return Promise.resolve();
      reserved.resolve(undefined);
      return new Promise<void>(() => undefined);
    },
  });
  void sendMessage(dying, sent);
  await reserved.promise;
  return { store, sent, chat: instance() };
}

test('the reservation of an instance that dies before the turn is stored serves the same message', async () => {
  const { store, sent, chat } = await died();

  expect(await answerOrReason(chat, randomUUID())).toBe('USER_STREAMS');
  const turn = await answered(chat, sent);

  expect(turn).toMatchObject({ state: 'done', attempt: 1 });
  expect(await usageOf(store)).toMatchObject({ messages: 1, open: [] });
});

describe('a turn that does not begin', () => {
  test('a message that does not fit the window holds nothing', async () => {
    const { store, instance } = world({
      USER_REQUESTS_PER_MINUTE: '5',
      MODEL_WINDOWS: JSON.stringify({ 'house-model': 8_000 }),
    });
    const chat = instance();

    const handle = sendMessage(chat, request(randomUUID(), 'word '.repeat(10_000)));

    await expect(handle).rejects.toMatchObject({ reason: 'CONTEXT_WINDOW_WILL_OVERFLOW' });
    await Promise.all(chat.afterwork);
    expect(await usageOf(store)).toMatchObject({ messages: 0, open: [], begun: [] });
  });

  test('a prompt that is larger than it looked is refused where the day has no room for it', async () => {
    const { store, instance } = world({ USER_DAILY_TOKENS: '1500' });
    const addContext = 'What the hook has found. '.repeat(300);
    const chat = instance({
      beforeTurnHooks: [{ name: 'found', run: () => Promise.resolve({ addContext }) }],
    });
    const conversationId = randomUUID();

    expect(await answerOrReason(chat, conversationId)).toBe('USER_DAILY_TOKENS');

    await Promise.all(chat.afterwork);
    expect(chat.requests).toEqual([]);
    expect(await usageOf(store)).toMatchObject({ messages: 0, tokens: 0, open: [] });
    expect(await answerOrReason(instance(), conversationId)).toBe('done');
  });
});

describe('one user, many messages at once, on the embedded store', () => {
  const store = createMemoryDocumentStore();
  raceTests(() => store);
});
