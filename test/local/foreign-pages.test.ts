import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EmbeddedHost, startEmbeddedHost } from '#infra/local/embedded/host.ts';
import { stackEnvironment } from '#infra/local/stack/stack-environment.ts';
import { type FakeGemini, startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { startStorage, type LocalStorage } from '#infra/local/storage/start-storage.ts';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';

const LISTED = 'https://app.example.test';

let fakeGemini: FakeGemini;
let host: EmbeddedHost;
let storage: LocalStorage;
beforeAll(async () => {
  fakeGemini = await startFakeGemini();
  storage = await startStorage({ bucket: 'b' });
  host = await startEmbeddedHost({
    environment: stackEnvironment({
      shell: {},
      model: { kind: 'stand-in' },
      fakeGeminiUrl: fakeGemini.url,
      settings: { CORS_ORIGINS: LISTED },
    }),
  });
});
afterAll(() => Promise.all([host.stop(), fakeGemini.close(), storage.close()]));

const authorization = `Bearer ${unsignedToken({ uid: 'ada', projectId: 'demo-recap', now: new Date() })}`;

interface Sent {
  path?: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Node's fetch lets nobody choose the Host header. */
async function statusOf(url: string, { path = '/', method = 'GET', headers, body }: Sent) {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  httpRequest(`${url}${path}`, { method, headers: { authorization, ...headers } })
    .once('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    })
    .once('error', reject)
    .end(body);
  return promise;
}

const push = JSON.stringify({ message: { data: '', messageId: '1' }, subscription: 's' });
/** Each server of the stack, and what it does for a program of this machine. */
const servers: [string, () => string, Sent][] = [
  ['chat', () => host.chatUrl, { path: '/v1/conversations' }],
  ['the worker', () => host.compactionUrl, { method: 'POST', body: push }],
  ['the stand-in for Gemini', () => fakeGemini.url, { path: '/control/journal' }],
  ['the stand-in for Cloud Storage', () => storage.url, { path: '/storage/v1/b/b/o' }],
];

describe.each(servers)('S2: %s', (_, urlOf, sent) => {
  const status = (headers: Record<string, string>) => statusOf(urlOf(), { ...sent, headers });

  test.each(['evil.example', 'evil.example:8080', '127.0.0.1.nip.io', '192.168.1.4:8080'])(
    'S2: the local server refuses the host %s, which a foreign page may have taken',
    async (name) => {
      expect(await status({ host: name })).toBe(403);
    },
  );

  test.each(['https://evil.example', 'http://localhost.evil.example', 'null'])(
    'S2: the local server refuses a page of %s',
    async (origin) => {
      expect(await status({ origin })).toBe(403);
    },
  );

  test.each(['127.0.0.1', 'localhost', '[::1]', '10.0.2.2'])(
    'S2: the local server serves programs on this machine that call it %s',
    async (name) => {
      const { port } = new URL(urlOf());

      const served = await status({});

      expect(await status({ host: `${name}:${port}` })).toBe(served);
      expect(await status({ host: name, origin: `http://${name}:5173` })).toBe(served);
      expect(served).not.toBe(403);
    },
  );
});

test('S2: chat serves a page of an origin that CORS_ORIGINS lists, the worker does not', async () => {
  const headers = { origin: LISTED };

  expect(await statusOf(host.chatUrl, { path: '/v1/conversations', headers })).toBe(200);
  expect(await statusOf(host.compactionUrl, { method: 'POST', body: push, headers })).toBe(403);
});

test('S2: a foreign page can start no fault of the fake Gemini', async () => {
  const body = JSON.stringify({ faults: [{ kind: 'internal' }] });
  const headers = { origin: 'https://evil.example', 'content-type': 'text/plain' };

  await statusOf(fakeGemini.url, { path: '/control/faults', method: 'POST', headers, body });

  const waiting = await fetch(`${fakeGemini.url}/control/faults`);
  expect(JSON.stringify(await waiting.json())).toContain('0');
});
