import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startEmbeddedHost, type EmbeddedHost } from '#infra/local/embedded/host.ts';
import { type FakeGemini, startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import { localProjectId, stackEnvironment } from '#infra/local/stack/stack-environment.ts';
import { startStorage, type LocalStorage } from '#infra/local/storage/start-storage.ts';
import type { LogFields } from '#shared/ports/ports.ts';
import { contextResponse } from '#shared/wire/resources/context.ts';
import { messageListResponse } from '#shared/wire/resources/messages.ts';
import { eventually } from '../support/eventually.ts';

/* Chat, worker, store and bus in one process, over HTTP. */

const LISTED = 'https://app.example.test';
const INSTRUCTION = 'You work for a flower shop.';
const authorization = `Bearer ${unsignedToken({ uid: 'ada', projectId: localProjectId, now: new Date() })}`;

let fakeGemini: FakeGemini;
let storage: LocalStorage;
let host: EmbeddedHost;
const logged: { event: string; fields: LogFields | undefined }[] = [];
beforeAll(async () => {
  fakeGemini = await startFakeGemini();
  storage = await startStorage({ bucket: 'b' });
  host = await startEmbeddedHost({
    environment: stackEnvironment({
      shell: {},
      model: { kind: 'fake-gemini' },
      fakeGeminiUrl: fakeGemini.url,
      settings: {
        THRESHOLD_TOKENS: '1500',
        SYSTEM_INSTRUCTION: INSTRUCTION,
        CORS_ORIGINS: LISTED,
      },
    }),
    sweepSeconds: 1,
    overrides: { logger: { log: (_, event, fields) => void logged.push({ event, fields }) } },
  });
});
afterAll(() => Promise.all([host.stop(), fakeGemini.close(), storage.close()]));

async function call(path: string, body?: object, headers = {}): Promise<unknown> {
  const response = await fetch(`${host.chatUrl}/v1/conversations/${path}`, {
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
    headers: { authorization, 'content-type': 'application/json', ...headers },
  });
  expect(response.status).toBe(200);
  return response.json();
}

const sentSchema = z.object({
  message: z.object({ parts: z.array(z.object({ text: z.string() })) }),
});

async function send(conversationId: string, text: string, headers = {}): Promise<string> {
  const message = { id: randomUUID(), parts: [{ type: 'text', text }] };
  const sent = await call(`${conversationId}/messages`, { message }, headers);
  const { parts } = sentSchema.parse(sent).message;
  return parts.map((part) => part.text).join('');
}

describe('a conversation that grows past its threshold', () => {
  const id = randomUUID();
  const said = Array.from(
    { length: 22 },
    (_, i) =>
      `Order ORD-70${i + 10} is ${i + 13} roses for the door number ${i + 10}. ${'It is a gift and should look like one. '.repeat(6)}`,
  );
  let lines: typeof logged;
  const traceparent = `00-${'4b'.repeat(16)}-00f067aa0ba902b7-01`;
  beforeAll(async () => {
    for (const text of said) await send(id, text, { traceparent });
    lines = await eventually('a swap', async () => {
      const told = logged.filter(({ fields }) => fields?.['conversationId'] === id);
      return told.some(({ event }) => event === 'chat_compression') ? told : undefined;
    });
  });

  test('a conversation past its threshold is compacted by itself and still knows what was said', async () => {
    const transcript = messageListResponse.parse(await call(`${id}/messages?pageSize=100`));
    const userTexts = transcript.messages
      .filter(({ role }) => role === 'user')
      .map(({ parts }) => parts.map((part) => ('text' in part ? part.text : '')).join(''));

    expect(userTexts).toEqual(said);
    expect(await send(id, 'Which order has 13 roses for the door number 10?')).toContain(
      'ORD-7010',
    );
  });

  test('/context shows exactly what the next prompt holds before the new message', async () => {
    const context = contextResponse.parse(await call(`${id}/context`));
    fakeGemini.clearJournal();
    await send(id, 'Thank you.');

    const entry = fakeGemini.journal().find(({ role }) => role === 'chat');
    const prompt = z
      .object({
        contents: z.array(z.unknown()),
        systemInstruction: z.unknown(),
        tools: z.array(z.object({ functionDeclarations: z.array(z.unknown()) })),
      })
      .parse(fakeGemini.requestBody(entry?.n ?? 0));
    const shown = context.items
      .filter(({ kind }) => kind !== 'system' && kind !== 'tools')
      .map(({ content }) => content);
    const tools = context.items.find(({ kind }) => kind === 'tools');
    expect(context.items[0]).toMatchObject({ kind: 'system', content: INSTRUCTION });
    expect(JSON.stringify(prompt.systemInstruction)).toContain(INSTRUCTION);
    expect(prompt.tools[0]?.functionDeclarations).toEqual(tools?.content);
    expect(prompt.contents.slice(0, -1)).toEqual(shown);
    expect(shown.length).toBeLessThan(44);
  });

  test('a request with a trace is logged under it, in chat and worker', () => {
    expect(lines.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['turn_finished', 'compaction_requested', 'chat_compression']),
    );
    expect(new Set(lines.map(({ fields }) => fields?.['logging.googleapis.com/trace']))).toEqual(
      new Set([`projects/${localProjectId}/traces/${'4b'.repeat(16)}`]),
    );
  });
});

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
  ['the fake Gemini', () => fakeGemini.url, { path: '/control/journal' }],
  ['the stand-in for Cloud Storage', () => storage.url, { path: '/storage/v1/b/b/o' }],
];

describe('foreign pages', () => {
  test.each(servers)(
    'S2: %s refuses hosts that a foreign page may have taken, and foreign pages, and serves programs on this machine',
    async (_, urlOf, sent) => {
      const status = (headers: Record<string, string>) => statusOf(urlOf(), { ...sent, headers });
      const { port } = new URL(urlOf());
      const served = await status({});

      for (const name of ['evil.example:8080', '127.0.0.1.nip.io', '192.168.1.4:8080'])
        expect(await status({ host: name })).toBe(403);
      for (const origin of ['https://evil.example', 'http://localhost.evil.example', 'null'])
        expect(await status({ origin })).toBe(403);
      for (const name of ['127.0.0.1', 'localhost', '[::1]', '10.0.2.2']) {
        expect(await status({ host: `${name}:${port}` })).toBe(served);
        expect(await status({ host: name, origin: `http://${name}:5173` })).toBe(served);
      }
      expect(served).not.toBe(403);
    },
  );

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
});
