import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorOf, startChatServer, type ChatServer } from '#test/support/chat/chat-server.ts';
import { createConversation, expectClean } from '#test/support/chat/http-answers.ts';

/* Row S3 of the security checklist: texts that break what reads them, in every field that takes a text. */

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

interface Case {
  method: string;
  path: () => string;
  /** Valid; every text in it is replaced in turn. */
  body: unknown;
}

const messageWith = (part: object) => ({
  message: { id: randomUUID(), parts: [part], retention: 'keep' },
  locale: 'ko-KR',
  onBusy: 'reject',
});
const cases: Record<string, Case> = {
  'a new conversation': {
    method: 'POST',
    path: () => '/v1/conversations',
    body: {
      id: randomUUID(),
      title: 'Trip',
      metadata: { place: 'Kyoto' },
      profile: 'assistant',
      model: 'gemini-2.5-flash',
      systemInstruction: 'Be kind.',
      settings: { onBusy: 'reject', compaction: 'auto' },
    },
  },
  'a patch': {
    method: 'PATCH',
    path: () => `/v1/conversations/${conversationId}`,
    body: { title: 'Trip', metadata: { place: 'Kyoto' } },
  },
  'a message': {
    method: 'POST',
    path: () => `/v1/conversations/${randomUUID()}/messages`,
    body: messageWith({ type: 'text', text: 'Hello' }),
  },
  'a file': {
    method: 'POST',
    path: () => `/v1/conversations/${randomUUID()}/messages`,
    body: messageWith({ type: 'file', mediaType: 'image/png', data: 'aGVsbG8=' }),
  },
  'a linked file': {
    method: 'POST',
    path: () => `/v1/conversations/${randomUUID()}/messages`,
    body: messageWith({ type: 'file', mediaType: 'image/png', url: 'https://a.example/b.png' }),
  },
  'a pin': {
    method: 'PUT',
    path: () => `/v1/conversations/${conversationId}/pins/p1`,
    body: { text: 'I am vegetarian.' },
  },
  'a compaction': {
    method: 'POST',
    path: () => `/v1/conversations/${conversationId}:compact`,
    body: { focus: 'The budget', requestId: randomUUID(), dryRun: true },
  },
  'a restore': {
    method: 'POST',
    path: () => `/v1/conversations/${conversationId}:restore`,
    body: { generation: 0, requestId: randomUUID() },
  },
  'a fork': {
    method: 'POST',
    path: () => `/v1/conversations/${conversationId}:fork`,
    body: { messageId: randomUUID(), id: randomUUID() },
  },
  'a feedback': {
    method: 'PUT',
    path: () => `/v1/conversations/${conversationId}/messages/m_1/feedback`,
    body: { rating: 'up', reason: 'helpful', comment: 'Thanks' },
  },
  'a rating': {
    method: 'POST',
    path: () => `/v1/conversations/${conversationId}/compactions/1:rate`,
    body: { score: 5, comment: 'Thanks' },
  },
  'a device': {
    method: 'PUT',
    path: () => '/v1/users/me/devices/phone',
    body: { token: 'token', platform: 'ios' },
  },
  'a regeneration': {
    method: 'POST',
    path: () => `/v1/conversations/${conversationId}/messages/m_1:regenerate`,
    body: { id: randomUUID(), locale: 'ko-KR', onBusy: 'reject' },
  },
};

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

describe('S3: a text with', () => {
  test.each(strange)(
    'S3: a text with %s is stored whole or refused clearly, wherever it stands',
    async (_, replace) => {
      for (const [name, { method, path, body }] of Object.entries(cases))
        for (const [at, changed] of withEachText(body, replace)) {
          const response = await chat.call(path(), { method, body: changed });
          const where = `${name} ${at}`;
          const { status } = response;
          expect({ where, status, isTaken: isTaken(status, replace('')) }).toMatchObject({
            isTaken: true,
          });
          if (response.ok) await response.text();
          else expectClean(await errorOf(response));
        }
    },
  );

  test.each([
    ['a NUL', 'a\0b'],
    ['controls', 'a\u0001\u001Fb'],
    ['line ends', 'a\r\n\u2028\u2029b'],
    ['a pair', '\u{1F600}'],
  ])('S3: a text with %s is returned as sent', async (_, said) => {
    const path = `/v1/conversations/${randomUUID()}/messages`;

    const sent = await chat.call(path, { body: messageWith({ type: 'text', text: said }) });
    const read = await chat.call(path);

    expect(sent.status).toBe(200);
    expect(JSON.stringify(await read.json())).toContain(JSON.stringify(said));
  });

  test.each(strange)(
    'S3: a text with %s in an address or a parameter is refused clearly',
    async (_, replace) => {
      const encoded = Buffer.from(replace('x'), 'utf8');
      const text = [...encoded].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
      for (const path of [
        `/v1/conversations/${text}`,
        `/v1/conversations/${conversationId}/pins/${text}`,
        `/v1/conversations/${conversationId}/turns/${text}`,
        `/v1/conversations?pageToken=${text}`,
        `/v1/conversations/${conversationId}/messages?pageToken=${text}`,
        `/v1/conversations/${conversationId}:export?format=${text}`,
        `/v1/conversations/${conversationId}/stream?startingAfter=${text}`,
      ]) {
        const error = await errorOf(await chat.call(path));
        expectClean(error);
        expect({ path, isRefused: [400, 404].includes(error.http) }).toEqual({
          path,
          isRefused: true,
        });
      }
    },
  );
});

describe('S3: the prototype of everything', () => {
  test.each([
    ['__proto__', '{"__proto__":{"isAdmin":true}}', 'BAD_JSON'],
    ['__proto__ below', '{"settings":{"__proto__":{"isAdmin":true}}}', 'BAD_JSON'],
    ['__proto__ in metadata', '{"metadata":{"__proto__":"x"}}', 'BAD_JSON'],
    ['constructor', '{"constructor":{"prototype":{"isAdmin":true}}}', 'BAD_FIELD'],
    [
      'constructor below',
      '{"settings":{"constructor":{"prototype":{"isAdmin":true}}}}',
      'BAD_FIELD',
    ],
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

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'S3: Object.prototype is not reached by %s as a parameter',
    async (name) => {
      const error = await errorOf(await chat.call(`/v1/conversations?${name}=1`));

      expect(error).toMatchObject({ http: 400, reason: 'BAD_FIELD' });
      expect(error.message).toContain(`\`${name}\``);
    },
  );
});
