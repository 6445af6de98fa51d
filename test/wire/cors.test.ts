import { parseConfig } from '#functions/config.ts';
import { startChatServer, type ChatServer } from '#test/support/chat/chat-server.ts';
import { afterAll, expect, test } from 'vitest';

const APP = 'https://app.example.com';
const OTHER = 'https://evil.example.com';

const [listed, open, closed] = await Promise.all([
  startChatServer({ environment: { CORS_ORIGINS: `http://localhost:5173, ${APP}` } }),
  startChatServer({ environment: { CORS_ORIGINS: '*' } }),
  startChatServer(),
]);
afterAll(() => Promise.all([listed.stop(), open.stop(), closed.stop()]));

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

test.each(['/v1/ai-sdk/chat', '/v1/conversations/x/messages/y:edit', '/no'])(
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

const hello = { id: 'u', role: 'user', parts: [{ type: 'text', text: 'Hi' }] };

test.each([
  ['an answer', '/v1/conversations', { method: 'GET' }, 200],
  ['a refusal', '/v1/conversations', { method: 'GET', uid: null }, 401],
  ['a stream', '/v1/ai-sdk/chat', { body: { id: 'page', messages: [hello] } }, 200],
])('a listed origin’s page reads %s and the useful headers', async (...[, path, call, status]) => {
  const answer = await listed.call(path, { ...call, headers: { origin: APP } });

  expect(answer.status).toBe(status);
  expect(corsHeaders(answer)).toEqual({
    'access-control-allow-origin': APP,
    'access-control-expose-headers':
      'x-turn-id, x-request-id, x-should-retry, etag, retry-after, date',
  });
  expect(answer.headers.get('vary')).toContain('Origin');
});

test.each([
  ['lists others', listed],
  ['lists none', closed],
])('another origin’s page is admitted nowhere by a server that %s', async (_, server) => {
  const refused = await preflight(server, OTHER);
  const read = await server.call('/v1/conversations', { headers: { origin: OTHER } });

  expect([refused, read].map(corsHeaders)).toEqual([{}, {}]);
  expect(refused.status).toBe(405);
});

test('a preflight of an origin that is not listed is refused with the setting that lists it', async () => {
  expect(await (await preflight(listed, OTHER)).text()).toContain('CORS_ORIGINS');
});

test('another origin’s page is admitted where any origin is, without credentials', async () => {
  const { headers } = await preflight(open, OTHER);

  expect(headers.get('access-control-allow-origin')).toBe(OTHER);
  expect(headers.get('access-control-allow-credentials')).toBeNull();
});

test.each(['app.example.com', 'https://app.example.com/', 'ftp://a.example'])(
  'CORS_ORIGINS refuses %s, which is no origin',
  (origin) => {
    const parse = () => parseConfig({ GOOGLE_CLOUD_PROJECT: 'demo-recap', CORS_ORIGINS: origin });

    expect(parse).toThrow('CORS_ORIGINS');
  },
);
