import { randomUUID } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { GuardLostError } from '#shared/errors.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { answerOrReason, limitedChat, usageOf } from '#test/support/chat/quotas.ts';
import { request } from '#test/support/chat/sending.ts';
import { passTime } from '#test/support/pass-time.ts';
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

/** Reads of the document by which a message is known: one for each time its turn is prepared. */
function countPreparations(chat: ChatDependencies) {
  let preparations = 0;
  const get: ChatDependencies['store']['get'] = (paths) => {
    if (paths.some((path) => path.includes('/messages/'))) preparations += 1;
    return chat.store.get(paths);
  };
  return {
    chat: { ...chat, store: { ...chat.store, get } },
    preparations: () => preparations,
  };
}

test('twenty messages of one user in twenty conversations are prepared once each', async () => {
  const { store, instance } = world({ USER_DAILY_MESSAGES: '100', GLOBAL_DAILY_USD: '1' });
  const { chat, preparations } = countPreparations(instance());

  const ends = await Promise.all(
    Array.from({ length: 20 }, () => answerOrReason(chat, randomUUID())),
  );

  expect(ends).toEqual(Array.from({ length: 20 }, () => 'done'));
  expect(preparations()).toBe(20);
  expect(await usageOf(store)).toMatchObject({ messages: 20, tokens: 3_000, open: [] });
});

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

/** A store in which others win the first `losses` batches that begin a turn; counts the writes to figures of users. */
function contendedStore(store: ChatDependencies['store'], losses: number) {
  let left = losses;
  let figures = 0;
  const commit: ChatDependencies['store']['commit'] = (writes) => {
    if (writes.some(({ path }) => path.includes('/turns/')) && left-- > 0)
      return Promise.reject(new GuardLostError({ paths: writes.map(({ path }) => path) }));
    figures += writes.filter(({ path }) => path.startsWith('quotas/')).length;
    return store.commit(writes);
  };
  return { store: { ...store, commit }, figures: () => figures };
}

test('a message whose tries lose to others reserves once', async () => {
  const { store, clock, instance } = world({ USER_DAILY_MESSAGES: '5', GLOBAL_DAILY_USD: '1' });
  const contended = contendedStore(store, 10);
  const chat = instance({ store: contended.store });

  const end = await passTime(clock, answerOrReason(chat, randomUUID()));

  await Promise.all(chat.afterwork);
  expect(end).toBe('done');
  expect(contended.figures()).toBe(2);
  expect(await usageOf(store)).toMatchObject({ messages: 1, open: [] });
});

describe('an instance that dies before the turn is stored', () => {
  const limits = { STREAMS_PER_USER: '1', USER_DAILY_MESSAGES: '1', USER_REQUESTS_PER_MINUTE: '1' };

  async function died() {
    const { store, clock, instance } = world(limits);
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
    return { store, clock, sent, chat: instance(), config: dying.config };
  }

  test('its reservation serves the same message', async () => {
    const { store, sent, chat } = await died();

    expect(await answerOrReason(chat, randomUUID())).toBe('USER_STREAMS');
    const { turn } = await (await sendMessage(chat, sent)).result;

    expect(turn).toMatchObject({ state: 'done', attempt: 1 });
    expect(await usageOf(store)).toMatchObject({ messages: 1, open: [] });
  });
});

describe('messages that come at once under one id', () => {
  const long = 'word '.repeat(5_000);

  /** An instance that has reserved and goes on no further, with how its turn would begin. */
  async function reserved(text: string) {
    const { store, instance } = world({ USER_DAILY_TOKENS: '8000' });
    const conversationId = randomUUID();
    const id = randomUUID();
    const isReserved = Promise.withResolvers<undefined>();
    const first = instance({
      atCrashPoint: (point) => {
        if (point !== 'turn-reserved') return Promise.resolve();
        isReserved.resolve(undefined);
        return new Promise<void>(() => undefined);
      },
    });
    void sendMessage(first, request(conversationId, text, id));
    await isReserved.promise;
    return { store, instance, conversationId, id };
  }

  test('a longer one is refused where the day has no room for it', async () => {
    const { store, instance, conversationId, id } = await reserved('Hello');
    const chat = instance();

    const sent = sendMessage(chat, request(conversationId, long.repeat(2), id));

    await expect(sent).rejects.toMatchObject({ reason: 'USER_DAILY_TOKENS' });
    expect(chat.requests).toEqual([]);
    expect((await usageOf(store)).open).toHaveLength(1);
  });

  test('a shorter one takes nothing from what the longer one holds', async () => {
    const { store, instance, conversationId, id } = await reserved(long);
    const [before] = (await usageOf(store)).open;
    const chat = instance({ atCrashPoint: () => new Promise<void>(() => undefined) });

    void sendMessage(chat, request(conversationId, 'Hello', id));

    await vi.waitFor(async () => expect((await usageOf(store)).open[0]?.holders).toHaveLength(2));
    expect((await usageOf(store)).open).toMatchObject([{ tokens: before?.tokens }]);
  });
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
