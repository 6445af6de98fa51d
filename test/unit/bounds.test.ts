import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createAccountRevocationCheck } from '#functions/adapters/accounts.ts';
import { createMemoryCache } from '#functions/adapters/memory-cache.ts';
import { createSubscribers } from '#functions/chat/turns/live-turn.ts';
import { createPausingGenerator, MODELS_REMEMBERED_MAX } from '#functions/models/model-health.ts';
import { createOpenStreams } from '#functions/quota/create-quota.ts';
import {
  createMemoryBus,
  DEAD_LETTERS_KEPT,
  type PushSubscriptionOptions,
} from '#infra/local/embedded/memory-bus.ts';
import { AppError } from '#shared/lib/errors.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { chatDependencies } from '../support/chat/chat-dependencies.ts';
import { openServer } from '#infra/local/processes/open-server.ts';
import { openPushEndpoint } from '../support/processes/push-endpoint.ts';
import { sendAll } from '#test/support/chat/sending.ts';

/** What docs/reference/bounds.md names and no other test reaches. */

test('up to a hundred failed models are remembered; the oldest failure is retried', async () => {
  const quota = () =>
    new AppError({
      status: 'RESOURCE_EXHAUSTED',
      reason: 'MODEL_QUOTA',
      message: 'quota',
      publicMessage: 'quota',
      retryable: true,
    });
  const asked: string[] = [];
  const { generate } = createPausingGenerator(
    {
      generate: ({ model }) => {
        asked.push(model);
        return Promise.reject(quota());
      },
    },
    createManualClock(),
  );
  const ask = (model: string) =>
    generate(
      { model, contents: [], role: 'utility_compressor', promptId: 'r' },
      new AbortController().signal,
    ).catch(() => undefined);
  for (let i = 0; i <= MODELS_REMEMBERED_MAX; i++) await ask(`m${i}`);

  await ask('m1');
  await ask('m0');

  expect(asked.slice(-2)).toEqual([`m${MODELS_REMEMBERED_MAX}`, 'm0']);
});

test('looked-up accounts are cached up to a bound, least recently used out first', async () => {
  const asked: string[] = [];
  const server = createServer((incoming, response) => {
    void text(incoming).then((body) => {
      const [localId] = JSON.parse(body).localId;
      asked.push(localId);
      response.end(JSON.stringify({ users: [{ localId }] }));
    });
  });
  const { url, close } = await openServer(server);
  onTestFinished(close);
  const accounts = createAccountRevocationCheck({
    projectId: 'p',
    baseUrl: url,
    accessTokens: { get: () => Promise.resolve('token'), renew: () => Promise.resolve('token') },
    clock: createManualClock(),
    maxAccounts: 2,
  });
  for (const uid of ['a', 'b', 'a', 'c', 'a', 'b'])
    await accounts.check({ uid, tier: 'signedIn', signedInAt: new Date(0) });

  expect(asked).toEqual(['a', 'b', 'c', 'b']);
});

describe('the in-process bus', () => {
  async function startBus(settings: Partial<PushSubscriptionOptions>) {
    const endpoint = await openPushEndpoint(() => 500);
    const name = 'projects/demo-recap/subscriptions/compaction';
    const subscription = { topic: 'compaction' as const, name, endpoint: endpoint.url };
    const bus = createMemoryBus({
      subscriptions: [
        { ...subscription, minBackoffSeconds: 0.001, maxBackoffSeconds: 0.001, ...settings },
      ],
    });
    onTestFinished(async () => {
      await bus.close();
      await endpoint.close();
    });
    return { bus, endpoint };
  }
  const event = { topic: 'compaction' as const, data: {} };

  test('the in-process bus keeps only the newest hundred dead letters', async () => {
    const { bus } = await startBus({ maxDeliveryAttempts: 1 });
    for (let i = 0; i < DEAD_LETTERS_KEPT + 7; i++) await bus.publish(event);
    await bus.idle();

    expect(bus.deadLetters()).toHaveLength(DEAD_LETTERS_KEPT);
    expect(bus.deadLetters()[0]?.message.messageId).toBe('8');
  });

  test('the in-process bus refuses an event when too many wait, for its publisher to retry', async () => {
    const later = { minBackoffSeconds: 60, maxBackoffSeconds: 60 };
    const { bus, endpoint } = await startBus({ maxQueued: 3, ...later });
    for (let i = 0; i < 3; i++) await bus.publish(event);
    await endpoint.untilReceived(3, 30_000);

    await expect(bus.publish(event)).rejects.toMatchObject({
      reason: 'EVENT_BUS_UNAVAILABLE',
      retryable: true,
    });
  });
});

test('streams that were never closed stop counting after their maximum duration', () => {
  const clock = createManualClock();
  const streams = createOpenStreams(clock, 60_000);
  for (let i = 0; i < 50; i++) streams.open('alice');
  expect(streams.count('alice')).toBe(50);

  clock.advance(60_000);

  expect(streams.count('alice')).toBe(0);
});

test('only present readers are remembered out of a thousand that came and left', () => {
  const audience = createSubscribers();
  for (let i = 0; i < 1_000; i++) {
    const left = new AbortController();
    audience.subscribe(left.signal);
    left.abort();
  }
  const stays = new AbortController();
  audience.subscribe(stays.signal);

  expect(audience.present()).toEqual([stays.signal]);
});

test('an instance keeps nothing of answered turns beyond its cache limit', async () => {
  const cache = createMemoryCache({ maxBytes: 1 });
  const dependencies = chatDependencies({ cache });
  await sendAll(dependencies, 'bounds', ['One', 'Two', 'Three']);
  await Promise.all(dependencies.afterwork);

  expect(dependencies.liveTurns.size).toBe(0);
  expect(dependencies.afterwork.size).toBe(0);
});
