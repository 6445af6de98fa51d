import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { decodePush, MAX_PUSH_BYTES } from '../../functions/src/compaction/decode-push.ts';
import { createCompactionHandler } from '../../functions/src/compaction/handle-push.ts';
import { registerFunctions } from '../../functions/src/register.ts';
import { serveFunctions } from '../../infra/local/function-host.ts';
import { AppError, StoreUnavailableError } from '../../shared/errors.ts';
import { createMemoryDocumentStore } from '../../infra/local/embedded/memory-document-store.ts';
import { createScriptedModel } from '../fakes/scripted-model.ts';
import { compactionBench, type CompactionBench } from '../support/compaction-dependencies.ts';
import { buildDue, see } from '../support/compacted-conversation.ts';

const pushOf = (data: unknown, extra: object = {}) =>
  JSON.stringify({
    message: {
      data: Buffer.from(typeof data === 'string' ? data : JSON.stringify(data)).toString('base64'),
      messageId: '77',
      attributes: {},
    },
    subscription: 'projects/p/subscriptions/s',
    ...extra,
  });

const requestFor = (conversationId: string) => ({
  schemaVersion: 1,
  conversationId,
  requestId: 'request-1',
});

describe('the body of a push', () => {
  test('becomes a compaction request', () => {
    const body = Buffer.from(pushOf(requestFor('c1'), { deliveryAttempt: 3 }));

    expect(decodePush(body)).toEqual({
      kind: 'event',
      event: { schemaVersion: 1, kind: 'compact', conversationId: 'c1', requestId: 'request-1' },
      delivery: { messageId: '77', deliveryAttempt: 3 },
    });
  });

  test.each([
    { schemaVersion: 1, kind: 'compact', conversationId: 'c1', requestId: 'request-1' },
    { schemaVersion: 1, kind: 'sweep' },
    { schemaVersion: 1, kind: 'erase', conversationId: 'c1' },
  ])('becomes an event of kind $kind', (event) => {
    const later = { ...event, more: 'of a later version' };

    expect(decodePush(Buffer.from(pushOf(later)))).toMatchObject({ kind: 'event', event });
  });

  test.each([
    ['nothing', ''],
    ['no JSON', '{'],
    ['no message', '{}'],
    ['a message without data', '{"message":{"messageId":"1"}}'],
    ['data that is no base64', '{"message":{"messageId":"1","data":"%%%"}}'],
    ['data that is no JSON', pushOf('hello')],
    ['no event', pushOf({ schemaVersion: 1, type: 'sweep' })],
    ['another kind of event', pushOf({ schemaVersion: 1, kind: 'explode' })],
    ['a sweep of a later version', pushOf({ schemaVersion: 2, kind: 'sweep' })],
    ['an erasure of nothing', pushOf({ schemaVersion: 1, kind: 'erase' })],
    ['an erasure of a path', pushOf({ schemaVersion: 1, kind: 'erase', conversationId: 'a/b' })],
    ['a later version', pushOf({ ...requestFor('c1'), schemaVersion: 2 })],
    ['an id with a slash', pushOf(requestFor('a/turns/b'))],
    ['too many bytes', pushOf({ ...requestFor('c1'), more: 'x'.repeat(MAX_PUSH_BYTES) })],
  ])('%s is malformed', (_, body) => {
    expect(decodePush(Buffer.from(body)).kind).toBe('malformed');
  });

  test('a malformed one is told without its values', () => {
    const decoded = decodePush(Buffer.from(pushOf({ conversationId: 'private words' })));

    expect(JSON.stringify(decoded)).not.toContain('private words');
  });
});

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** The handler behind a real server that leaves the body on the wire, as the guarded framework does. */
async function serve(bench: CompactionBench): Promise<string> {
  const handle = createCompactionHandler(bench);
  const server = createServer((request, response) => void handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}/`;
}

const post = (url: string, body: string) => fetch(url, { method: 'POST', body });

/** The handler behind the framework’s own server, as the function host opens it. */
async function serveInFramework(bench: CompactionBench): Promise<string> {
  registerFunctions({
    clock: bench.clock,
    drainMs: 0,
    chat: () => Promise.reject(new Error('not here')),
    compaction: () => Promise.resolve(bench),
  });
  const servers = await serveFunctions([{ target: 'compaction', port: 0 }]);
  const [address] = servers.map((server) => server.address() as AddressInfo);
  closers.push(async () => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    }
  });
  return `http://127.0.0.1:${address?.port}/`;
}

const tokenRefused = new AppError({
  status: 'UNAUTHENTICATED',
  reason: 'PUSH_TOKEN_INVALID',
  message: 'no token',
  publicMessage: 'Pushes only.',
});

describe('the worker in the framework', () => {
  const hostile: [string, RequestInit][] = [
    ['malformed JSON', { headers: { 'content-type': 'application/json' }, body: '{"mess' }],
    [
      'a body of a megabyte',
      { headers: { 'content-type': 'application/json' }, body: `"${'x'.repeat(1_000_000)}"` },
    ],
    [
      'an encoding that it is not in',
      {
        headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
        body: 'no gzip',
      },
    ],
    [
      'an unknown charset',
      { headers: { 'content-type': 'application/json; charset=x' }, body: '{}' },
    ],
    ['a form', { body: new URLSearchParams({ a: 'b' }) }],
  ];

  test.each(hostile)('answers %s of a stranger with 401 in JSON', async (_, request) => {
    const bench = compactionBench({ pushTokens: { verify: () => Promise.reject(tokenRefused) } });
    const url = await serveInFramework(bench);

    const response = await fetch(url, { method: 'POST', ...request });

    expect(response.status).toBe(401);
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(await response.json()).toMatchObject({
      error: { details: [{ reason: 'PUSH_TOKEN_INVALID' }] },
    });
  });

  test.each(hostile)('acknowledges and logs %s of Pub/Sub', async (_, request) => {
    const bench = compactionBench();

    const response = await fetch(await serveInFramework(bench), { method: 'POST', ...request });

    expect([response.status, await response.text()]).toEqual([204, '']);
    expect(bench.logged).toMatchObject([{ event: 'compaction_push_malformed' }]);
  });

  test('answers an address that cannot be decoded in JSON', async () => {
    const response = await fetch(`${await serveInFramework(compactionBench())}%ff`);

    expect(response.status).toBe(405);
    expect(await response.json()).toMatchObject({ error: { code: 405 } });
  });

  test('stops reading a body of no announced length at its limit', async () => {
    const bench = compactionBench();
    const url = await serveInFramework(bench);
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        controller.enqueue(new Uint8Array(16 * 1_024));
      },
    });
    const stop = new AbortController();
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

  test('compacts and acknowledges', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);

    const response = await post(await serveInFramework(bench), pushOf(requestFor(conversationId)));

    expect(response.status).toBe(204);
    expect((await see(bench.store, conversationId)).head.generation).toBe(1);
  });
});

describe('the worker’s HTTP function', () => {
  test('compacts and acknowledges', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);

    const response = await post(await serve(bench), pushOf(requestFor(conversationId)));

    expect(response.status).toBe(204);
    expect((await see(bench.store, conversationId)).head.generation).toBe(1);
  });

  test('refuses a GET as JSON', async () => {
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

  test('refuses a caller without the right token, as JSON and without work', async () => {
    const bench = compactionBench({ pushTokens: { verify: () => Promise.reject(tokenRefused) } });
    const conversationId = await buildDue(bench);

    const response = await post(await serve(bench), pushOf(requestFor(conversationId)));

    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(await response.json()).toMatchObject({
      error: { details: [{ reason: 'PUSH_TOKEN_INVALID' }] },
    });
    expect((await see(bench.store, conversationId)).head.generation).toBe(0);
  });

  test('acknowledges and logs what will never be readable', async () => {
    const bench = compactionBench();

    const response = await post(await serve(bench), '{"message":{"messageId":"1"}}');

    expect(response.status).toBe(204);
    expect(bench.logged).toMatchObject([{ severity: 'ERROR', event: 'compaction_push_malformed' }]);
  });

  test('asks for another delivery when the model is down', async () => {
    const down = new AppError({
      status: 'UNAVAILABLE',
      reason: 'MODEL_OVERLOADED',
      message: 'overloaded',
      publicMessage: 'Later.',
      retryable: true,
    });
    const bench = compactionBench({ model: createScriptedModel({ answers: [down] }) });
    const conversationId = await buildDue(bench);

    const response = await post(await serve(bench), pushOf(requestFor(conversationId)));

    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('10');
    expect(await response.json()).toMatchObject({
      error: { details: [{ reason: 'MODEL_OVERLOADED' }, { retryDelay: '10s' }] },
    });
  });

  test('asks for another delivery when the store is away', async () => {
    const store = createMemoryDocumentStore({
      beforeOperation: () => Promise.reject(new StoreUnavailableError({ operation: 'get' })),
    });

    const response = await post(await serve(compactionBench({ store })), pushOf(requestFor('c1')));

    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
  });

  test('stops when the caller has left, and the need stays', async () => {
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
    expect((await see(bench.store, conversationId)).head.compactionNeeded.auto).toBeDefined();
  });

  test('sweeps and acknowledges', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    bench.clock.advance(120_000);

    const response = await post(await serve(bench), pushOf({ schemaVersion: 1, kind: 'sweep' }));

    expect(response.status).toBe(204);
    expect(bench.published).toMatchObject([{ topic: 'compaction', data: { conversationId } }]);
  });

  test('acknowledges a sweep that could do nothing: the next one does', async () => {
    const store = createMemoryDocumentStore({
      beforeOperation: () => Promise.reject(new StoreUnavailableError({ operation: 'query' })),
    });
    const bench = compactionBench({ store });

    const response = await post(await serve(bench), pushOf({ schemaVersion: 1, kind: 'sweep' }));

    expect(response.status).toBe(204);
    expect(bench.logged.at(-1)).toMatchObject({ event: 'sweep_finished', fields: { failed: 3 } });
  });

  test('erases a marked conversation and acknowledges', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, { head: { state: 'erasing' } });
    const erase = { schemaVersion: 1, kind: 'erase', conversationId };

    const response = await post(await serve(bench), pushOf(erase));

    expect(response.status).toBe(204);
    expect((await see(bench.store, conversationId)).head.state).toBe('erased');
  });

  test('erases nothing that is not marked, whoever publishes the event', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const erase = { schemaVersion: 1, kind: 'erase', conversationId };

    const response = await post(await serve(bench), pushOf(erase));

    expect(response.status).toBe(204);
    expect((await see(bench.store, conversationId)).head).toMatchObject({
      state: 'live',
      lastSeq: 20,
    });
  });

  test('asks for another delivery of an erasure that the store interrupts', async () => {
    const store = createMemoryDocumentStore({
      beforeOperation: ({ name }) =>
        name === 'deleteBelow'
          ? Promise.reject(new StoreUnavailableError({ operation: 'delete' }))
          : Promise.resolve(),
    });
    const bench = compactionBench({ store });
    const conversationId = await buildDue(bench, { head: { state: 'erasing' } });
    const erase = { schemaVersion: 1, kind: 'erase', conversationId };

    const response = await post(await serve(bench), pushOf(erase));

    expect(response.status).toBe(503);
  });

  test('answers a defect with 500, so that the event becomes a dead letter', async () => {
    const store = createMemoryDocumentStore({
      beforeOperation: () => Promise.reject(new TypeError('a defect')),
    });
    const bench = compactionBench({ store });

    const response = await post(await serve(bench), pushOf(requestFor('c1')));

    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('a defect');
    expect(bench.logged).toMatchObject([{ severity: 'ERROR', event: 'compaction_push_failed' }]);
  });

  test('passes its last crash point when the answer is out', async () => {
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

test('a process that is about to end gives the lease back and asks for another delivery', async () => {
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

  const { head, job } = await see(bench.store, conversationId);
  expect(answer.status).toBe(503);
  expect(head).toMatchObject({ generation: 0, compactionNeeded: { auto: expect.anything() } });
  expect(job).toMatchObject({ owner: '', failures: 0, records: [{ reason: 'SHUTTING_DOWN' }] });
});
