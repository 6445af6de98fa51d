import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { startChatServer } from '#test/support/chat/chat-server.ts';
import { idTokenClaims } from '#test/support/token-keys.ts';
import { openSocket, requestHead } from '#test/support/wire/raw-request.ts';

/* Row S7 of the security checklist: connections that only take up room. */

const chat = await startChatServer({ environment: { BODY_TIMEOUT_MS: '1000' } });
afterAll(() => chat.stop());

/** `count` connections that have said `begun`, and go on a byte at a time when told to. */
async function dripping(count: number, begun: string) {
  const sockets = Array.from({ length: count }, () => openSocket(chat.url));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const say = (text: string) => {
    for (const socket of sockets) socket.write(text);
  };
  say(begun);
  return { sockets, say };
}

const isServed = async () =>
  (await chat.call('/v1/conversations', { body: { title: 'Trip' } })).status === 201;

const end = (sockets: readonly Socket[]) => {
  for (const socket of sockets) socket.destroy();
};

describe('S7: two hundred connections', () => {
  test('S7: two hundred connections with dripping headers block nobody', async () => {
    const { sockets, say } = await dripping(200, 'GET /v1/health HTTP/1.1\r\nHost: a\r\nX-A: ');

    const served: boolean[] = [];
    for (const letter of 'dripping') {
      say(letter);
      served.push(await isServed());
    }

    expect(served).toEqual(served.map(() => true));
    end(sockets);
  });

  test('S7: two hundred connections with dripping headers are closed in time', () => {
    expect(chat.server.headersTimeout).toBeGreaterThan(0);
    expect(chat.server.headersTimeout).toBeLessThanOrEqual(60_000);
    expect(chat.server.requestTimeout).toBeGreaterThan(0);
    expect(chat.server.requestTimeout).toBeLessThanOrEqual(300_000);
  });

  test('S7: two hundred connections with dripping bodies block nobody and are closed', async () => {
    const token = await chat.keys.sign(idTokenClaims(chat.project, 'mallory'));
    const head = requestHead('POST /v1/conversations', [
      ['Authorization', `Bearer ${token}`],
      ['Content-Length', '1000000'],
    ]);
    const { sockets, say } = await dripping(200, `${head}{"title":"`);
    const closed = Promise.all(sockets.map((socket) => once(socket.resume(), 'close')));

    say('a');
    const served = await isServed();
    await closed;

    expect(served).toBe(true);
    expect(chat.logs.filter(({ fields }) => fields['reason'] === 'BODY_TOO_SLOW')).toHaveLength(
      200,
    );
  });
});
