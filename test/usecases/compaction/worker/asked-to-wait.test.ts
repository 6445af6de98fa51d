import { describe, expect, onTestFinished, test } from 'vitest';
import { createMemoryBus } from '#infra/local/embedded/memory-bus.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/errors.ts';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import {
  autoRequest,
  buildDue,
  compactOnce,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import {
  compactionBench,
  type CompactionBench,
} from '#test/support/compaction/compaction-dependencies.ts';
import { modelDown } from '#test/support/model-down.ts';
import { serve } from '#test/support/processes/pushing.ts';
import { historiesOf } from '#test/support/compaction/stored-histories.ts';

const overQuota = (retryAfterMs: number) =>
  new AppError({
    status: 'RESOURCE_EXHAUSTED',
    reason: 'MODEL_QUOTA',
    message: 'the model answered 429',
    publicMessage: 'The model is busy.',
    retryable: true,
    retryAfterMs,
  });

/** The same conversation asks again, as after the next crossing. */
const askAgain = (bench: CompactionBench, conversationId: string, requestId: string) =>
  bench.store.commit([
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: { compactionRequests: { ...autoRequest(requestId) } },
      guard: { exists: true },
    },
  ]);

describe('a model over its quota', () => {
  test('a model over its quota is called by no worker before its retry time', async () => {
    const model = createScriptedModel({
      answers: [overQuota(90_000), snapshotAnswer(), snapshotAnswer()],
    });
    const bench = compactionBench({ model });
    const conversationId = await buildDue(bench);

    const first = await compactOnce(bench, conversationId);
    bench.clock.advance(89_000);
    const early = await compactOnce(bench, conversationId);
    bench.clock.advance(1_000);
    const late = await compactOnce(bench, conversationId);

    expect(first).toEqual({ kind: 'retry', retryAfterMs: 90_000, reason: 'MODEL_QUOTA' });
    expect(early).toEqual({ kind: 'later', retryAfterMs: 1_000, reason: 'RETRY_LATER' });
    expect(late).toMatchObject({ kind: 'done', state: 'COMPACTED' });
    expect(model.calls).toHaveLength(2);
  });

  test('a model over its quota with a short retry time gets the back-off', async () => {
    const bench = compactionBench({ model: createScriptedModel({ answers: [overQuota(1_000)] }) });
    const conversationId = await buildDue(bench);

    expect(await compactOnce(bench, conversationId)).toMatchObject({ retryAfterMs: 10_000 });
  });
});

test('the breaker stays open for the next request and other workers, then allows one try', async () => {
  const bench = compactionBench({ model: createScriptedModel({ answers: [modelDown()] }) });
  const conversationId = await buildDue(bench, {
    conversation: { settings: { thresholdTokens: 2_000 }, compactionRequests: autoRequest() },
  });
  for (let attempt = 0; attempt < 3; attempt++) {
    await compactOnce(bench, conversationId);
    bench.clock.advance(61_000);
  }
  const healthy = compactionBench({
    ...bench,
    model: createScriptedModel({ answers: [snapshotAnswer()] }),
  });

  await askAgain(bench, conversationId, 'request-2');
  const whileOpen = await compactOnce(healthy, conversationId);
  bench.clock.advance(60 * 60_000);
  await askAgain(bench, conversationId, 'request-3');
  const afterwards = await compactOnce(healthy, conversationId);

  expect(whileOpen).toMatchObject({ kind: 'done', state: 'NOOP', reason: 'BREAKER_OPEN' });
  expect(afterwards).toMatchObject({ kind: 'done', state: 'COMPACTED' });
  const { job } = await see(bench.store, conversationId);
  expect(job?.brake).toMatchObject({ failures: 0 });
  expect(job?.brake.pause).toBeUndefined();
});

test('a worker slower than the acknowledgement deadline is stopped; a redelivery swaps once', async () => {
  const bench = compactionBench({
    model: createScriptedModel({
      answers: [
        (_, signal) => {
          const { promise, reject } = Promise.withResolvers<string>();
          signal.addEventListener('abort', () => {
            reject(signal.reason);
          });
          return promise;
        },
        snapshotAnswer(),
      ],
    }),
  });
  const conversationId = await buildDue(bench);
  const endpoint = await serve(bench);
  const bus = createMemoryBus({
    subscriptions: [
      {
        topic: 'compaction',
        name: 'projects/demo-recap/subscriptions/recap-compaction',
        endpoint,
        ackDeadlineMs: 500,
        minBackoffMs: 20,
        maxBackoffMs: 100,
        maxDeliveryAttempts: 1_000,
      },
    ],
  });
  onTestFinished(() => bus.close());

  await bus.publish({
    topic: 'compaction',
    data: { schemaVersion: 1, conversationId, requestId: 'request-1' },
  });
  await expect
    .poll(async () => (await see(bench.store, conversationId)).job?.records, { timeout: 20_000 })
    .toMatchObject([{ state: 'ABORTED', reason: 'CALLER_LEFT' }]);
  bench.clock.advance(61_000);
  await expect
    .poll(async () => (await see(bench.store, conversationId)).conversation, { timeout: 20_000 })
    .toMatchObject({ generation: 1, compactionRequests: {} });

  expect(await historiesOf(bench, conversationId)).toHaveLength(1);
}, 60_000);
