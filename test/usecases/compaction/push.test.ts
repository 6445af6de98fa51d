import { MAX_PUSH_BYTES, decodePush } from '#functions/worker/push/handle-push.ts';
import { createMemoryBus } from '#infra/local/embedded/memory-bus.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { createScriptedModel, snapshotAnswer, untilAborted } from '#test/fakes/scripted-model.ts';
import { historiesOf, setConversation } from '#test/support/chat/lifecycle.ts';
import {
  actingAt,
  buildDue,
  see,
  compactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { overloaded } from '#test/support/model-down.ts';
import { passTime } from '#test/support/pass-time.ts';
import {
  post,
  pushOf,
  requestFor,
  serve,
  serveInFramework,
} from '#test/support/processes/pushing.ts';
import { describe, expect, onTestFinished, test } from 'vitest';

describe('the worker’s HTTP function', () => {
  test('the worker acknowledges a failed try, publishes the request anew and waits out the pause', async () => {
    const model = createScriptedModel({ answers: [overloaded(), snapshotAnswer()] });
    const bench = compactionBench({ model });
    const conversationId = await buildDue(bench);
    const url = await serve(bench);

    const first = await post(url, pushOf(requestFor(conversationId)));
    const published = bench.published.filter(({ topic }) => topic === 'compaction');
    const second = post(url, pushOf(published[0]?.data ?? {}));
    await passTime(bench.clock, second, 50);

    expect(first.status).toBe(204);
    expect(published).toMatchObject([{ data: { conversationId } }]);
    expect((await second).status).toBe(204);
    expect((await see(bench.store, conversationId)).conversation).toMatchObject({
      generation: 1,
      compactionRequests: {},
    });
  });

  test('a conversation that is written to at every try of a claim has its turn again at once, not with a sweep', async () => {
    const plain = compactionBench();
    const conversationId = await buildDue(plain);
    let isBusy = true;
    const bench = actingAt(plain, 'before-claim', async () => {
      if (isBusy) await setConversation(plain, conversationId, { updateTime: plain.clock.now() });
    });
    const url = await serve(bench);

    const first = post(url, pushOf(requestFor(conversationId)));
    await passTime(bench.clock, first, 50);
    isBusy = false;
    const [event] = plain.published.filter(({ topic }) => topic === 'compaction');
    await passTime(bench.clock, post(url, pushOf(event?.data ?? {})), 50);

    expect((await first).status).toBe(204);
    expect((await see(bench.store, conversationId)).conversation.generation).toBe(1);
  });

  test('the worker sweeps and acknowledges', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    bench.clock.advance(120_000);

    const response = await post(await serve(bench), pushOf({ schemaVersion: 1, kind: 'sweep' }));

    expect(response.status).toBe(204);
    expect(bench.published).toMatchObject([{ topic: 'compaction', data: { conversationId } }]);
  });

  test('the worker answers a defect with 500, so that the event is dead-lettered', async () => {
    const store = createMemoryDocumentStore({
      beforeOperation: () => Promise.reject(new TypeError('a defect')),
    });
    const bench = compactionBench({ store });

    const response = await post(await serve(bench), pushOf(requestFor('c1')));

    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('a defect');
    expect(bench.logged).toMatchObject([{ severity: 'ERROR', event: 'compaction_push_failed' }]);
  });
});

test('a worker process about to end releases its lease and publishes the request anew', async () => {
  const shutdown = new AbortController();
  const bench = compactionBench({
    shutdown: shutdown.signal,
    model: createScriptedModel({
      answers: [
        () => {
          shutdown.abort();
          return Promise.reject(new DOMException('stopped', 'AbortError'));
        },
      ],
    }),
  });
  const conversationId = await buildDue(bench);

  const answer = await post(await serve(bench), pushOf(requestFor(conversationId)));

  const { conversation, job } = await see(bench.store, conversationId);
  expect(answer.status).toBe(204);
  expect(bench.published.filter(({ topic }) => topic === 'compaction')).toMatchObject([
    { data: { conversationId } },
  ]);
  expect(conversation).toMatchObject({
    generation: 0,
    compactionRequests: { auto: expect.anything() },
  });
  expect(job).toMatchObject({
    owner: '',
    brake: { failures: 0 },
    records: [{ reason: 'SHUTTING_DOWN' }],
  });
});

test('a worker slower than the acknowledgement deadline is stopped; a redelivery swaps once', async () => {
  const bench = compactionBench({
    model: createScriptedModel({
      answers: [(_, signal) => untilAborted(signal), snapshotAnswer()],
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
        // The second delivery ends within it, on a busy machine too.
        ackDeadlineSeconds: 2,
        minBackoffSeconds: 0.02,
        maxBackoffSeconds: 0.1,
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

describe('the worker in the framework', () => {
  const hostile: [string, RequestInit][] = [
    ['malformed JSON', { headers: { 'content-type': 'application/json' }, body: '{"mess' }],
    [
      'a body of a megabyte',
      { headers: { 'content-type': 'application/json' }, body: `"${'x'.repeat(1_000_000)}"` },
    ],
    ['a form', { body: new URLSearchParams({ a: 'b' }) }],
  ];

  test.each(hostile)(
    'the worker in the framework acknowledges and logs %s of Pub/Sub',
    async (_, request) => {
      const bench = compactionBench();

      const response = await fetch(await serveInFramework(bench), { method: 'POST', ...request });

      expect([response.status, await response.text()]).toEqual([204, '']);
      expect(bench.logged).toMatchObject([{ event: 'compaction_push_malformed' }]);
    },
  );

  test('the worker in the framework stops reading an unannounced body at its limit', async () => {
    const bench = compactionBench();
    const url = await serveInFramework(bench);
    const stop = new AbortController();
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        // Who still reads it then would do so for ever.
        if (stop.signal.aborted) controller.close();
        else controller.enqueue(new Uint8Array(16 * 1_024));
      },
    });
    const request: RequestInit & { duplex: 'half' } = {
      method: 'POST',
      body: endless,
      duplex: 'half',
      signal: stop.signal,
    };

    const answered = fetch(url, request).catch(() => undefined);

    await expect.poll(() => bench.logged).toMatchObject([{ event: 'compaction_push_malformed' }]);
    stop.abort();
    await answered;
  });
});

test.each([
  { schemaVersion: 1, kind: 'compact', conversationId: 'c1', requestId: 'request-1' },
  { schemaVersion: 1, kind: 'sweep' },
  { schemaVersion: 1, kind: 'erase', conversationId: 'c1' },
])('the body of a push becomes an event of kind $kind', (event) => {
  const later = { ...event, more: 'of a later version' };

  expect(decodePush(Buffer.from(pushOf(later)))).toMatchObject({ kind: 'event', event });
});

test.each([
  ['no JSON', '{'],
  ['a message without data', '{"message":{"messageId":"1"}}'],
  ['data that is no base64', '{"message":{"messageId":"1","data":"%%%"}}'],
  ['no event', pushOf({ schemaVersion: 1, type: 'sweep' })],
  ['an erasure of a path', pushOf({ schemaVersion: 1, kind: 'erase', conversationId: 'a/b' })],
  ['a later version', pushOf({ ...requestFor('c1'), schemaVersion: 2 })],
  ['an id with a slash', pushOf(requestFor('a/turns/b'))],
  ['too many bytes', pushOf({ ...requestFor('c1'), more: 'x'.repeat(MAX_PUSH_BYTES) })],
])('a push body with %s is malformed', (_, body) => {
  expect(decodePush(Buffer.from(body)).kind).toBe('malformed');
});
