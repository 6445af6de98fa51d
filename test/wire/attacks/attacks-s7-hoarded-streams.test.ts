import { randomUUID } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, onTestFinished, test } from 'vitest';
import { heldStreamer } from '#test/fakes/held-streamer.ts';
import { errorOf } from '#test/support/chat/chat-server.ts';
import { eventually } from '#test/support/eventually.ts';
import { startLimitedServer } from '#test/support/chat/quotas.ts';
import { idTokenClaims } from '#test/support/token-keys.ts';

/* Row S7 of the security checklist: a thousand streams of one user. */

const READERS = 1_000;
const AT_ONCE = 100;
const LIMIT = 3;
/** What a refused stream may leave behind in this process, client and server together, bytes. */
const KEPT_BYTES_MAX = 4_096;
const SSE = { accept: 'text/event-stream' };

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

async function heldServer(environment: Record<string, string>) {
  const { model, calls, answerAll } = heldStreamer();
  const server = await startLimitedServer(environment, { model });
  onTestFinished(() => server.stop());
  const path = `/v1/conversations/${randomUUID()}`;
  const message = { id: randomUUID(), parts: [{ type: 'text', text: 'boats' }] };
  const running = await server.call(`${path}/messages`, { body: { message }, headers: SSE });
  await eventually('the model is asked', () => Promise.resolve(calls.length > 0 || undefined));
  const token = await server.keys.sign(idTokenClaims(server.project, 'alice'));
  const read = () => server.call(`${path}/turns/t_1/stream`, { headers: SSE, token });
  return { server, running, read, calls, answerAll };
}

/** `count` results, some at once. */
async function many<T>(count: number, once: () => Promise<T>): Promise<T[]> {
  const all: T[] = [];
  while (all.length < count)
    all.push(...(await Promise.all(Array.from({ length: AT_ONCE }, once))));
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

describe('S7: a thousand streams of one user', { timeout: 180_000 }, () => {
  test('S7: a thousand streams of one user are refused over the limit; others are served', async () => {
    const { server, running, read, answerAll } = await heldServer({
      STREAMS_PER_USER: String(LIMIT),
    });
    const others: number[] = [];
    // A stream whose answer nobody holds is closed when the garbage is collected, and its place is free.
    const open: Response[] = [];

    const answers = await many(READERS, async () => {
      const answer = await read();
      if (answer.status === 200) {
        open.push(answer);
        return 'open';
      }
      const { http, reason, metadata } = await errorOf(answer);
      if (others.length < 10)
        others.push((await server.call('/v1/conversations', { uid: 'bob' })).status);
      return `${http} ${reason} ${metadata.limit}`;
    });

    const refused = answers.filter((answer) => answer === `429 USER_STREAMS ${LIMIT}`);
    expect(open).toHaveLength(LIMIT - 1);
    expect(refused).toHaveLength(READERS - LIMIT + 1);
    expect(others.length).toBeGreaterThanOrEqual(10);
    expect(new Set(others)).toEqual(new Set([200]));
    answerAll();
    for (const held of [running, ...open])
      expect(textOf(await held.text())).toBe('Answer to boats.');
  });

  test('S7: refused streams leave nothing behind', async () => {
    const { running, read, answerAll } = await heldServer({ STREAMS_PER_USER: '1' });
    const refuse = (count: number) => many(count, async () => (await read()).text());
    // What is made once, such as connections and compiled code, is made by the first ones.
    await refuse(300);

    const before = heapBytes();
    await refuse(READERS);
    const after = heapBytes();

    expect((after - before) / READERS).toBeLessThan(KEPT_BYTES_MAX);
    answerAll();
    expect(textOf(await running.text())).toBe('Answer to boats.');
  });

  test('S7: a thousand streams of one running answer are one model call, each complete', async () => {
    const { running, read, calls, answerAll } = await heldServer({ STREAMS_PER_USER: '0' });
    const open = await many(READERS, read);
    answerAll();

    const texts = await Promise.all(open.map(async (answer) => textOf(await answer.text())));

    expect(open.every(({ status }) => status === 200)).toBe(true);
    expect(new Set(texts)).toEqual(new Set(['Answer to boats.']));
    expect(textOf(await running.text())).toBe('Answer to boats.');
    expect(calls).toHaveLength(1);
  });

  test('S7: a thousand streams of one finished answer are no model call, each complete', async () => {
    const { running, read, calls, answerAll } = await heldServer({
      STREAMS_PER_USER: String(LIMIT),
    });
    answerAll();
    await running.text();
    const readers = Array.from({ length: READERS }, (_, n) => n);

    // One after the other, as a phone that reconnects does: never more than the limit at once.
    const texts = new Set<string>();
    for (let first = 0; first < READERS; first += LIMIT)
      for (const stream of await Promise.all(
        readers.slice(first, first + LIMIT).map(async () => {
          const answer = await read();
          return `${answer.status} ${textOf(await answer.text())}`;
        }),
      ))
        texts.add(stream);

    expect(texts).toEqual(new Set(['200 Answer to boats.']));
    expect(calls).toHaveLength(1);
  });
});
