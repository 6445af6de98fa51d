import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseConfig } from '#functions/config.ts';
import { startChatServer, type ChatServer } from '../support/chat/chat-server.ts';

const APP = 'https://app.example.com';
const OTHER = 'https://evil.example.com';

let listed: ChatServer;
let open: ChatServer;
let closed: ChatServer;
beforeAll(async () => {
  const started = await Promise.all([
    startChatServer({ environment: { CORS_ORIGINS: `${APP}, http://localhost:5173` } }),
    startChatServer({ environment: { CORS_ORIGINS: '*' } }),
    startChatServer(),
  ]);
  [listed, open, closed] = started;
});
afterAll(() => Promise.all([listed, open, closed].map((server) => server.stop())));

const preflight = (server: ChatServer, origin: string, path = '/v1/ai-sdk/chat') =>
  server.call(path, {
    uid: null,
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,x-firebase-appcheck',
    },
  });

const corsHeaders = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));

describe('a page of a listed origin', () => {
  test.each(['/v1/ai-sdk/chat', '/v1/conversations', '/v1/conversations/x/messages/y:edit', '/no'])(
    'a listed origin’s preflight is answered without a token for %s',
    async (path) => {
      const answer = await preflight(listed, APP, path);

      expect(answer.status).toBe(204);
      expect(corsHeaders(answer)).toEqual({
        'access-control-allow-origin': APP,
        'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
        'access-control-allow-headers': 'authorization,content-type,x-firebase-appcheck',
        'access-control-max-age': '7200',
      });
      expect(answer.headers.get('vary')).toContain('Origin');
    },
  );

  test.each([
    ['an answer', { method: 'GET' }, 200],
    ['a refusal', { method: 'GET', uid: null }, 401],
  ])('a listed origin’s page reads %s and the useful headers', async (_, call, status) => {
    const answer = await listed.call('/v1/conversations', { ...call, headers: { origin: APP } });

    expect(answer.status).toBe(status);
    expect(corsHeaders(answer)).toEqual({
      'access-control-allow-origin': APP,
      'access-control-expose-headers': 'x-turn-id, x-request-id, x-should-retry, etag, retry-after',
    });
    expect(answer.headers.get('vary')).toContain('Origin');
  });

  test('a listed origin’s page reads a stream', async () => {
    const answer = await listed.call('/v1/ai-sdk/chat', {
      headers: { origin: APP },
      body: {
        id: 'page',
        messages: [{ id: 'u', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
      },
    });

    expect(answer.headers.get('access-control-allow-origin')).toBe(APP);
    expect(answer.headers.get('x-turn-id')).toBe('t_1');
    expect(await answer.text()).toContain('data: [DONE]');
  });

  test('a page’s origin may be one of several listed ones', async () => {
    const answer = await preflight(listed, 'http://localhost:5173');

    expect(answer.headers.get('access-control-allow-origin')).toBe('http://localhost:5173');
  });
});

describe('a page of another origin', () => {
  test.each(['listed', 'closed'])(
    'another origin’s page is admitted nowhere by a server that is %s',
    async (which) => {
      const server = which === 'listed' ? listed : closed;

      const answers = [
        await preflight(server, OTHER),
        await server.call('/v1/conversations', { headers: { origin: OTHER } }),
      ];

      expect(answers.map(corsHeaders)).toEqual([{}, {}]);
      expect(answers[0]?.status).toBe(405);
    },
  );

  test('another origin’s page is admitted where any origin is', async () => {
    const answer = await preflight(open, OTHER);

    expect(answer.headers.get('access-control-allow-origin')).toBe(OTHER);
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
  });
});

test('an OPTIONS that is no preflight is answered like any disallowed method', async () => {
  const answer = await listed.call('/v1/conversations', {
    method: 'OPTIONS',
    headers: { origin: APP },
  });

  expect(answer.status).toBe(405);
});

test.each([
  'app.example.com',
  'https://app.example.com/',
  'https://a.example/path',
  'ftp://a.example',
])('CORS_ORIGINS refuses %s, which is no origin', (origin) => {
  expect(() => parseConfig({ GOOGLE_CLOUD_PROJECT: 'demo-recap', CORS_ORIGINS: origin })).toThrow(
    'CORS_ORIGINS',
  );
});

test('a preflight of an origin that is not listed is refused with the setting that lists it', async () => {
  const answer = await preflight(listed, OTHER);

  expect(answer.status).toBe(405);
  expect(await answer.text()).toContain('CORS_ORIGINS');
});
