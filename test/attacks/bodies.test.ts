import {
  errorOf,
  startChatServer,
  type ChatServer,
  expectClean,
} from '#test/support/chat/chat-server.ts';
import { idTokenClaims } from '#test/support/token-keys.ts';
import { errorOfRaw, requestHead, sendHalf, sendRaw } from './raw-request.ts';
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';

/* Bodies and headers that are too much. */

const MIB = 1_024 * 1_024;
const GIB = 1_024 * MIB;

const chat = await startChatServer();
const slow = await startChatServer({ environment: { BODY_TIMEOUT_MS: '300' } });
afterAll(() => Promise.all([chat.stop(), slow.stop()]));

const tokenOf = (server: ChatServer) => server.keys.sign(idTokenClaims(server.project, 'alice'));
async function headWith(headers: [string, string][], server = chat): Promise<string> {
  return requestHead('POST /v1/conversations', [
    ['Authorization', `Bearer ${await tokenOf(server)}`],
    ['Content-Type', 'application/json'],
    ...headers,
  ]);
}

const piece = Buffer.alloc(64 * 1_024, 'x');
const chunk = Buffer.concat([Buffer.from('10000\r\n'), piece, Buffer.from('\r\n')]);
/** `bytes` of body, piece by piece, of which no more than one is in memory. */
function* many(bytes: number, buffer: Buffer = piece) {
  for (let sent = 0; sent < bytes; sent += buffer.length) yield buffer;
}

/** A hundred megabytes in a tenth of one. */
const bomb = gzipSync(Buffer.alloc(100 * MIB));

/** The largest growth of this process' memory while `work` runs, bytes. */
async function growthDuring(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage.rss();
  let peak = before;
  const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 5);
  await work();
  clearInterval(timer);
  return Math.max(peak, process.memoryUsage.rss()) - before;
}

test.each([
  ['says it has 8 GiB', ['Content-Length', String(8 * GIB)], piece, true, 413],
  ['comes in chunks without end', ['Transfer-Encoding', 'chunked'], chunk, true, 413],
  [
    'says it has 8 GiB and is of a stranger',
    ['Content-Length', String(8 * GIB)],
    piece,
    false,
    401,
  ],
  ['comes in chunks and is of a stranger', ['Transfer-Encoding', 'chunked'], chunk, false, 401],
] as const)(
  'S6: a body that %s is cut off, in a small part of its memory',
  async (...[, header, of, isSignedIn, status]) => {
    const head = isSignedIn
      ? await headWith([[...header]])
      : requestHead('POST /v1/conversations', [header]);
    let answer = { status: 0, sentBytes: 0 };

    const growth = await growthDuring(async () => {
      answer = await sendRaw(chat.url, { head, body: many(8 * GIB, of) });
    });

    expect(answer.status).toBe(status);
    expect(answer.sentBytes / (8 * GIB)).toBeLessThan(0.25);
    expect(growth / GIB).toBeLessThan(0.1);
  },
);

test.each(['gzip', 'GZIP', 'br', 'identity, gzip', 'x'])(
  'S6: a body in the encoding %s is refused, not inflated',
  async (encoding) => {
    const head = await headWith([
      ['Content-Encoding', encoding],
      ['Content-Length', String(bomb.length)],
    ]);
    let answer = { status: 0, text: '', sentBytes: 0 };

    const growth = await growthDuring(async () => {
      answer = await sendRaw(chat.url, { head, body: [bomb] });
    });

    expect(errorOfRaw(answer)).toEqual({ reason: 'ENCODING_UNSUPPORTED', code: 415 });
    expect(growth / (100 * MIB)).toBeLessThan(0.3);
  },
);

const messages = () => `/v1/conversations/${randomUUID()}/messages`;
const bodyWith = (parts: unknown) => ({ message: { id: randomUUID(), parts } });
test.each([
  ['200,000 lists deep', '['.repeat(200_000) + ']'.repeat(200_000), 'BAD_JSON'],
  ['200,000 parts that are none', bodyWith(Array.from({ length: 200_000 }, () => 1)), 'BAD_JSON'],
  ['a field with a name of 900,000 characters', { ['n'.repeat(900_000)]: 1 }, 'BAD_FIELD'],
  ['a number of 900,000 digits', `{"message":${'9'.repeat(900_000)}}`, 'BAD_FIELD'],
])('S6: a body with %s is refused in a short answer', async (_, body, reason) => {
  const error = await errorOf(await chat.call(messages(), { method: 'POST', body }));

  expectClean(error);
  expect(error).toMatchObject({ http: 400, reason });
  expect(error.text.length).toBeLessThan(2_000);
});

test.each([
  ['of 1,000 bytes', ['Content-Length', '1000'], '{"title":"'],
  ['of unannounced length', ['Transfer-Encoding', 'chunked'], '5\r\n{"tit\r\n'],
] as const)(
  'S6: a body %s that stops half way is refused after its time and disconnected',
  async (_, header, begun) => {
    const head = await headWith([[...header]], slow);

    const answer = await sendHalf(slow.url, `${head}${begun}`);

    expect(errorOfRaw(answer)).toEqual({ reason: 'BODY_TOO_SLOW', code: 408 });
  },
);
