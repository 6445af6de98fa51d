import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { decodePush, MAX_PUSH_BYTES } from '../../functions/src/compaction/decode-push.ts';
import {
  createCompactionHandler,
  type PushRequest,
} from '../../functions/src/compaction/handle-push.ts';
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
      kind: 'compact',
      conversationId: 'c1',
      requestId: 'request-1',
      messageId: '77',
      deliveryAttempt: 3,
    });
  });

  test.each([
    ['nothing', ''],
    ['no JSON', '{'],
    ['no message', '{}'],
    ['a message without data', '{"message":{"messageId":"1"}}'],
    ['data that is no base64', '{"message":{"messageId":"1","data":"%%%"}}'],
    ['data that is no JSON', pushOf('hello')],
    ['another kind of event', pushOf({ schemaVersion: 1, type: 'sweep' })],
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

/** The handler behind a real server that gives it `rawBody` as the framework does. */
async function serve(bench: CompactionBench): Promise<string> {
  const handle = createCompactionHandler(bench);
  const server = createServer((request: PushRequest, response) => {
    void buffer(request).then((body) => {
      request.rawBody = body;
      return handle(request, response);
    });
  });
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
    const refusal = new AppError({
      status: 'UNAUTHENTICATED',
      reason: 'PUSH_TOKEN_INVALID',
      message: 'no token',
      publicMessage: 'Pushes only.',
    });
    const bench = compactionBench({ pushTokens: { verify: () => Promise.reject(refusal) } });
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
});
