import { request as httpRequest } from 'node:http';
import { describe, expect, test } from 'vitest';
import { StoreUnavailableError } from '#shared/errors.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';
import { buildDue, see } from '#test/support/compaction/compacted-conversation.ts';
import { passTime } from '#test/support/pass-time.ts';
import { overloaded } from '#test/support/model-down.ts';
import { writeJob } from '#test/support/compaction/past-compactions.ts';
import { post, pushOf, requestFor, serve, tokenRefused } from '#test/support/processes/pushing.ts';

describe('the worker’s HTTP function', () => {
  test('the worker compacts and acknowledges', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);

    const response = await post(await serve(bench), pushOf(requestFor(conversationId)));

    expect(response.status).toBe(204);
    expect((await see(bench.store, conversationId)).conversation.generation).toBe(1);
  });

  test('the worker refuses a GET as JSON', async () => {
    const response = await fetch(await serve(compactionBench()));

    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
    expect(await response.json()).toMatchObject({
      error: {
        code: 405,
        status: 'INVALID_ARGUMENT',
        details: [{ reason: 'METHOD_NOT_ALLOWED', domain: 'recap', metadata: {} }],
      },
    });
  });

  test('the worker refuses a caller without the right token, as JSON and without work', async () => {
    const bench = compactionBench({ pushTokens: { verify: () => Promise.reject(tokenRefused) } });
    const conversationId = await buildDue(bench);

    const response = await post(await serve(bench), pushOf(requestFor(conversationId)));

    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(await response.json()).toMatchObject({
      error: { details: [{ reason: 'PUSH_TOKEN_INVALID' }] },
    });
    expect((await see(bench.store, conversationId)).conversation.generation).toBe(0);
  });

  test('the worker acknowledges and logs an event that can never be read', async () => {
    const bench = compactionBench();

    const response = await post(await serve(bench), '{"message":{"messageId":"1"}}');

    expect(response.status).toBe(204);
    expect(bench.logged).toMatchObject([{ severity: 'ERROR', event: 'compaction_push_malformed' }]);
  });

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

  test('the worker acknowledges at once what a model asks to wait long for, and keeps the request', async () => {
    const model = createScriptedModel({ answers: [overloaded(90_000)] });
    const bench = compactionBench({ model });
    const conversationId = await buildDue(bench);

    const response = await post(await serve(bench), pushOf(requestFor(conversationId)));

    expect(response.status).toBe(204);
    const { conversation, job } = await see(bench.store, conversationId);
    expect(conversation.compactionRequests.auto).toBeDefined();
    expect(job?.brake.pause).toEqual({
      reason: 'RETRY_LATER',
      until: new Date(bench.clock.now().getTime() + 90_000),
    });
  });

  test('the worker acknowledges a request while another worker holds the lease', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    await writeJob(bench.store, conversationId, {
      owner: 'another',
      leaseUntil: new Date(bench.clock.now().getTime() + 60_000),
    });

    const response = await post(await serve(bench), pushOf(requestFor(conversationId)));

    expect(response.status).toBe(204);
    expect(bench.model.calls).toEqual([]);
  });

  test('the worker asks for redelivery when the store is unavailable', async () => {
    const store = createMemoryDocumentStore({
      beforeOperation: () => Promise.reject(new StoreUnavailableError({ operation: 'get' })),
    });

    const response = await post(await serve(compactionBench({ store })), pushOf(requestFor('c1')));

    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
  });

  test('the worker stops when its caller has left and keeps the request', async () => {
    const asked = Promise.withResolvers<undefined>();
    const bench = compactionBench({
      model: createScriptedModel({
        answers: [
          (_, signal) => {
            asked.resolve(undefined);
            const { promise, reject } = Promise.withResolvers<string>();
            signal.addEventListener('abort', () => {
              reject(signal.reason);
            });
            return promise;
          },
        ],
      }),
    });
    const conversationId = await buildDue(bench);
    const url = await serve(bench);
    const outgoing = httpRequest(url, { method: 'POST' });
    outgoing.on('error', () => undefined);
    outgoing.end(pushOf(requestFor(conversationId)));
    await asked.promise;

    outgoing.destroy();

    await expect
      .poll(async () => (await see(bench.store, conversationId)).job?.records)
      .toMatchObject([{ state: 'ABORTED', reason: 'CALLER_LEFT' }]);
    expect(
      (await see(bench.store, conversationId)).conversation.compactionRequests.auto,
    ).toBeDefined();
  });

  test('the worker sweeps and acknowledges', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    bench.clock.advance(120_000);

    const response = await post(await serve(bench), pushOf({ schemaVersion: 1, kind: 'sweep' }));

    expect(response.status).toBe(204);
    expect(bench.published).toMatchObject([{ topic: 'compaction', data: { conversationId } }]);
  });

  test('the worker acknowledges a sweep that could do nothing', async () => {
    const store = createMemoryDocumentStore({
      beforeOperation: () => Promise.reject(new StoreUnavailableError({ operation: 'query' })),
    });
    const bench = compactionBench({ store });

    const response = await post(await serve(bench), pushOf({ schemaVersion: 1, kind: 'sweep' }));

    expect(response.status).toBe(204);
    expect(bench.logged.at(-1)).toMatchObject({ event: 'sweep_finished', fields: { failed: 3 } });
  });

  test('the worker erases a marked conversation and acknowledges', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, { conversation: { state: 'erasing' } });
    const erase = { schemaVersion: 1, kind: 'erase', conversationId };

    const response = await post(await serve(bench), pushOf(erase));

    expect(response.status).toBe(204);
    expect((await see(bench.store, conversationId)).conversation.state).toBe('erased');
  });

  test('the worker erases nothing unmarked, whoever publishes the event', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const erase = { schemaVersion: 1, kind: 'erase', conversationId };

    const response = await post(await serve(bench), pushOf(erase));

    expect(response.status).toBe(204);
    expect((await see(bench.store, conversationId)).conversation).toMatchObject({
      state: 'live',
      lastSeq: 20,
    });
  });

  test('the worker asks for redelivery of an erasure that the store interrupts', async () => {
    const store = createMemoryDocumentStore({
      beforeOperation: ({ name }) =>
        name === 'deleteBelow'
          ? Promise.reject(new StoreUnavailableError({ operation: 'delete' }))
          : Promise.resolve(),
    });
    const bench = compactionBench({ store });
    const conversationId = await buildDue(bench, { conversation: { state: 'erasing' } });
    const erase = { schemaVersion: 1, kind: 'erase', conversationId };

    const response = await post(await serve(bench), pushOf(erase));

    expect(response.status).toBe(503);
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

  test('the worker passes its last crash point when the answer is sent', async () => {
    const reached: string[] = [];
    const bench = compactionBench({
      atCrashPoint: (point) => {
        reached.push(point);
        return Promise.resolve();
      },
    });

    await post(await serve(bench), pushOf(requestFor('nobody')));

    await expect.poll(() => reached.at(-1)).toBe('acknowledged');
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
