import { servedDocument } from '#infra/reference/api-document.ts';
import {
  errorOf,
  startChatServer,
  type ChatServer,
  createConversation,
} from '#test/support/chat/chat-server.ts';
import { createResources, createWireApp } from '#test/support/chat/wire-app.ts';
import { reasonOf } from './document-check.ts';
import { targetsOf } from './generated-requests.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';

/* Texts that break what reads them, in every field that takes a text, and ids that no store holds. */

let chat: ChatServer;
let conversationId: string;
beforeAll(async () => {
  chat = await startChatServer({
    environment: {
      CLIENT_WRITABLE: 'model,profile,systemInstruction,onBusy,compaction,windowTokens',
    },
  });
  conversationId = (await createConversation(chat)).id;
});
afterAll(() => chat.stop());

const messageWith = (part: object) => ({
  message: { id: randomUUID(), parts: [part], retention: 'keep' },
  locale: 'ko-KR',
  onBusy: 'reject',
});

/** Method, address and a valid body, every text of which is replaced in turn. `{own}` is a conversation that there is, `{new}` one that there is not. */
const cases: [method: string, path: string, body: object][] = [
  [
    'POST',
    '/v1/conversations',
    {
      id: randomUUID(),
      title: 'Trip',
      metadata: { place: 'Kyoto' },
      profile: 'assistant',
      model: 'gemini-2.5-flash',
      systemInstruction: 'Be kind.',
      settings: { onBusy: 'reject', compaction: 'auto' },
    },
  ],
  ['PATCH', '{own}', { title: 'Trip', metadata: { place: 'Kyoto' } }],
  ['POST', '{new}/messages', messageWith({ type: 'text', text: 'Hello' })],
  [
    'POST',
    '{new}/messages',
    messageWith({ type: 'file', mediaType: 'image/png', data: 'aGVsbG8=' }),
  ],
  [
    'POST',
    '{new}/messages',
    messageWith({ type: 'file', mediaType: 'image/png', url: 'https://a.example/b.png' }),
  ],
  ['PUT', '{own}/pins/p1', { text: 'I am vegetarian.' }],
  ['POST', '{own}:compact', { focus: 'The budget', requestId: randomUUID(), dryRun: true }],
  ['POST', '{own}:restore', { generation: 0, requestId: randomUUID() }],
  ['POST', '{own}:fork', { messageId: randomUUID(), id: randomUUID() }],
  ['PUT', '{own}/messages/m_1/feedback', { rating: 'up', reason: 'helpful', comment: 'Thanks' }],
  ['POST', '{own}/compactions/1:rate', { score: 5, comment: 'Thanks' }],
  ['PUT', '/v1/users/me/devices/phone', { token: 'token', platform: 'ios' }],
  [
    'POST',
    '{own}/messages/m_1:regenerate',
    { id: randomUUID(), locale: 'ko-KR', onBusy: 'reject' },
  ],
];

const addressOf = (path: string) =>
  path
    .replace('{own}', `/v1/conversations/${conversationId}`)
    .replace('{new}', `/v1/conversations/${randomUUID()}`);

/** Every copy of `value` with one of its texts replaced, and where that text stood. */
function withEachText(value: unknown, replace: (text: string) => string): [string, unknown][] {
  if (typeof value === 'string') return [['', replace(value)]];
  if (Array.isArray(value))
    return value.flatMap((item, index) =>
      withEachText(item, replace).map(([at, changed]): [string, unknown] => [
        `[${index}]${at}`,
        value.with(index, changed),
      ]),
    );
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    withEachText(item, replace).map(([at, changed]): [string, unknown] => [
      `.${key}${at}`,
      { ...value, [key]: changed },
    ]),
  );
}

const strange: [string, (text: string) => string][] = [
  ['a NUL', (text) => `${text}\0x`],
  ['half of a surrogate pair, high', (text) => `${text}\uD83D`],
  ['half of a surrogate pair, low', (text) => `\uDE00${text}`],
  ['a pair in the wrong order', (text) => `${text}\uDE00\uD83D`],
  [
    'every control character',
    () => String.fromCharCode(...Array.from({ length: 32 }, (_, i) => i)),
  ],
  ['an end of line and a header', (text) => `${text}\r\nset-cookie: a=b`],
  ['bidi overrides', (text) => `\u202E${text}\u2066`],
  ['__proto__', () => '__proto__'],
  ['constructor', () => 'constructor'],
];

/** JSON escapes half of a pair; what it stands for is what counts. */
const isTaken = (status: number, text: string) =>
  (text.isWellFormed() ? [200, 201, 400, 404, 409] : [400]).includes(status);

test.each(strange)(
  'S3: a text with %s is stored whole or refused clearly, wherever it stands',
  async (_, replace) => {
    for (const [method, path, body] of cases)
      for (const [at, changed] of withEachText(body, replace)) {
        const response = await chat.call(addressOf(path), { method, body: changed });
        const { status } = response;
        const refusedOrTaken = isTaken(status, replace(''));
        expect({ path, at, status, refusedOrTaken }).toMatchObject({ refusedOrTaken: true });
        const text = await response.text();
        expect(response.ok ? '' : text).not.toMatch(/<html|\bat .*\.(js|ts):\d+/i);
      }
  },
);

test.each([
  ['__proto__', '{"__proto__":{"isAdmin":true}}', 'BAD_JSON'],
  ['__proto__ below', '{"settings":{"__proto__":{"isAdmin":true}}}', 'BAD_JSON'],
  ['__proto__ in metadata', '{"metadata":{"__proto__":"x"}}', 'BAD_JSON'],
  ['constructor', '{"constructor":{"prototype":{"isAdmin":true}}}', 'BAD_FIELD'],
  ['constructor below', '{"settings":{"constructor":{"prototype":{"isAdmin":true}}}}', 'BAD_FIELD'],
  ['__defineGetter__ in metadata', '{"metadata":{"__defineGetter__":"x"}}', 'BAD_FIELD'],
])('S3: Object.prototype is not reached by %s', async (_, body, reason) => {
  const error = await errorOf(await chat.call('/v1/conversations', { method: 'POST', body }));

  expect(error).toMatchObject({ http: 400, reason });
  expect(Reflect.get({}, 'isAdmin')).toBeUndefined();
});

test.each(['constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', 'then'])(
  'S3: Object.prototype is not reached by %s as a metadata key, stored normally',
  async (key) => {
    const metadata = JSON.parse(`{"${key}":"mine"}`);

    const created = await createConversation(chat, { body: { metadata } });
    const read = await chat.call(`/v1/conversations/${created.id}`);

    expect(await read.json()).toMatchObject({ metadata: { [key]: 'mine' } });
    expect(Reflect.get({}, key)).not.toBe('mine');
  },
);

const app = createWireApp();
const places = targetsOf(servedDocument()).flatMap(({ method, path, operation }) =>
  operation.parameters
    .filter((parameter) => parameter.in === 'path')
    .map(({ name }) => ({ method, path, name })),
);

test.each(['__proto__', '__x__', '%2E%2E', 'a%2Fb', '%00', '가', 'x'.repeat(2_000)])(
  'S3: an id that the store cannot hold is refused wherever it stands: %.20s',
  async (id) => {
    const own = await createResources(app, { uid: 'alice', canary: 'words' });
    for (const { method, path, name } of places) {
      const address = path.replaceAll(/\{(\w+)\}/g, (_, each: string) =>
        each === name ? id : (own[each] ?? ''),
      );
      const body = method === 'GET' ? undefined : '{}';
      const answer = await app.call({ method, path: address, uid: 'alice', body });

      // 204: what is not there is deleted already, and has nothing to stream.
      const isRefused = [204, 400, 404].includes(answer.status);
      const reason = reasonOf(answer);
      expect({ method, path, name, reason, isRefused }).toMatchObject({ isRefused: true });
      expect(reason).not.toBe('WRITE_REFUSED');
    }
  },
);
