import { disableNodeDomains } from '#functions/bootstrap/disable-node-domains.ts';
import { guardEveryServer } from '#functions/lib/guard-server.ts';
import { errorOf, serveForTest, type ChatServer } from '#test/support/chat/chat-server.ts';
import { settle } from '#test/support/chat/streaming.ts';
import { openForTest } from '#test/support/open-for-test.ts';
import { http } from '@google-cloud/functions-framework';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';

test.each([
  ['malformed JSON', { method: 'POST', body: '{"a": canary-51' }, 'BAD_JSON'],
  [
    'a compressed body',
    { method: 'POST', body: '', headers: { 'content-encoding': 'gzip' } },
    'ENCODING_UNSUPPORTED',
  ],
  [
    'an unknown charset',
    {
      method: 'POST',
      body: '{"a":1}',
      headers: { 'content-type': 'application/json; charset=x' },
    },
    'BAD_FIELD',
  ],
])('a guarded server answers %s in JSON from the very first request', async (_, call, reason) => {
  guardEveryServer();
  const chat = await serveForTest({ isGuarded: false });

  const error = await errorOf(await chat.call('/v1/conversations', call));

  expect(error.type).toContain('application/json');
  expect(error.reason).toBe(reason);
});

test('a guarded server answers an undecodable address in JSON', async () => {
  guardEveryServer();
  const chat = await serveForTest({ isGuarded: false });

  const error = await errorOf(await chat.call('/v1/%ff'));

  expect(error).toMatchObject({ http: 404, reason: 'ROUTE_NOT_FOUND' });
});

describe('a connection without requests', () => {
  /** Google's front end closes an idle connection after this time. */
  const FRONT_END_IDLE_SECONDS = 620;

  const keptSeconds = async (server: ChatServer) => {
    const { headers } = await server.call('/v1/health');
    return Number(/timeout=(\d+)/.exec(headers.get('keep-alive') ?? '')?.[1]);
  };

  test('a guarded server keeps an idle connection for longer than Google’s front end does', async () => {
    const chat = await serveForTest();

    expect(await keptSeconds(chat)).toBeGreaterThan(FRONT_END_IDLE_SECONDS);
  });

  test('a server that the framework opened keeps idle connections from its second request on', async () => {
    guardEveryServer();
    const chat = await serveForTest({ isGuarded: false });
    await keptSeconds(chat);

    expect(await keptSeconds(chat)).toBeGreaterThan(FRONT_END_IDLE_SECONDS);
    expect(chat.server.keepAliveTimeout).toBeGreaterThan(FRONT_END_IDLE_SECONDS * 1_000);
  });
});

test('an unguarded server accepts bodies that the framework has read', async () => {
  const chat = await serveForTest({ isGuarded: false });

  const response = await chat.call('/v1/conversations', { body: { title: 'Trip' } });

  expect(response.status).toBe(201);
  expect(await response.json()).toMatchObject({ title: 'Trip' });
});

type Handler = Parameters<typeof http>[1];

/** A function of the framework, with the URL at which it is served. */
async function serve(handler: Handler): Promise<string> {
  const target = `probe-${randomUUID()}`;
  http(target, handler);
  return `${(await openForTest(getTestServer(target))).url}/`;
}

const domainNow = () => Reflect.get(process, 'domain') ?? null;

describe('a request of the framework', () => {
  disableNodeDomains();

  test('a framework request is in no Node domain, behind an await either', async () => {
    const seen: unknown[] = [];
    const url = await serve(async (_, response) => {
      seen.push(domainNow());
      await settle();
      seen.push(domainNow());
      response.end();
    });

    await fetch(url);

    expect(seen).toEqual([null, null]);
  });

  test('a framework request whose handler throws is answered with 500', async () => {
    const url = await serve(() => Promise.reject(new Error('a defect')));

    expect((await fetch(url)).status).toBe(500);
  });
});
