import { heldStreamer } from '#test/fakes/scripted-streamer.ts';
import { errorOf, startChatServer } from '#test/support/chat/chat-server.ts';
import { startLimitedServer } from '#test/support/chat/quotas.ts';
import { eventually } from '#test/support/eventually.ts';
import { idTokenClaims } from '#test/support/token-keys.ts';
import { openSocket, requestHead } from './raw-request.ts';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, expect, onTestFinished, test } from 'vitest';

/* Connections that only take up room, and a thousand streams of one user. */

const chat = await startChatServer({ environment: { BODY_TIMEOUT_MS: '1000' } });
afterAll(() => chat.stop());

/** Two hundred connections that have said `begun`. */
async function connect(begun: string) {
  const sockets = Array.from({ length: 200 }, () => openSocket(chat.url));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (const socket of sockets) socket.write(begun);
  return sockets;
}

const isServed = async () =>
  (await chat.call('/v1/conversations', { body: { title: 'Trip' } })).status === 201;

test('S7: two hundred connections with dripping bodies block nobody and are closed', async () => {
  const token = await chat.keys.sign(idTokenClaims(chat.project, 'mallory'));
  const head = requestHead('POST /v1/conversations', [
    ['Authorization', `Bearer ${token}`],
    ['Content-Length', '1000000'],
  ]);
  const sockets = await connect(`${head}{"title":"a`);
  const closed = Promise.all(sockets.map((socket) => once(socket.resume(), 'close')));

  expect(await isServed()).toBe(true);
  await closed;

  const slow = chat.logs.filter(({ fields }) => fields['reason'] === 'BODY_TOO_SLOW');
  expect(slow).toHaveLength(200);
});

const READERS = 1_000;
const LIMIT = 3;
/** What a refused stream may leave behind in this process, client and server together, bytes. */
const KEPT_BYTES_MAX = 4_096;
const SSE = { accept: 'text/event-stream' };

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** A user whose answer waits for the model, and who reads its stream again. */
async function heldServer(streams: number) {
  const { model, calls, answerAll } = heldStreamer();
  const server = await startLimitedServer({ STREAMS_PER_USER: String(streams) }, { model });
  onTestFinished(() => server.stop());
  const path = `/v1/conversations/${randomUUID()}`;
  const message = { id: randomUUID(), parts: [{ type: 'text', text: 'boats' }] };
  const running = await server.call(`${path}/messages`, { body: { message }, headers: SSE });
  await eventually('the model is asked', () => Promise.resolve(calls.length > 0 || undefined));
  const token = await server.keys.sign(idTokenClaims(server.project, 'alice'));
  const read = () => server.call(`${path}/turns/t_1/stream`, { headers: SSE, token });
  return { server, running, read, calls, answerAll };
}

/** `count` results, a hundred at once. */
async function many<T>(count: number, make: () => Promise<T>): Promise<T[]> {
  const all: T[] = [];
  while (all.length < count) all.push(...(await Promise.all(Array.from({ length: 100 }, make))));
  return all;
}

/** What is in use when nothing can be collected any more. */
function heapBytes(): number {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const textOf = (stream: string) =>
  [...stream.matchAll(/"type":"text-delta","id":"[^"]+","delta":"([^"]*)"/g)]
    .map(([, delta = '']) => delta)
    .join('');

test('S7: a thousand streams of one user are refused over the limit and leave nothing behind; others are served', async () => {
  const { server, running, read, answerAll } = await heldServer(LIMIT);
  // A stream whose answer nobody holds is closed when the garbage is collected, and its place is free.
  const open: Response[] = [];
  while (open.length < LIMIT - 1) open.push(await read());
  const refuse = async () => {
    const { http, reason, metadata } = await errorOf(await read());
    return `${http} ${reason} ${metadata.limit}`;
  };
  // What is made once, such as connections and compiled code, is made by the first ones.
  await many(300, refuse);

  const before = heapBytes();
  const refused = new Set(await many(READERS, refuse));
  const kept = heapBytes() - before;

  expect(refused).toEqual(new Set([`429 USER_STREAMS ${LIMIT}`]));
  expect(kept / READERS).toBeLessThan(KEPT_BYTES_MAX);
  expect((await server.call('/v1/conversations', { uid: 'bob' })).status).toBe(200);
  answerAll();
  for (const held of [running, ...open]) expect(textOf(await held.text())).toBe('Answer to boats.');
}, 180_000);
