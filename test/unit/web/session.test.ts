import { createServer } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { guestSession } from '#web/api/session.ts';
import { openServer } from '#infra/local/processes/open-server.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

/** Answers as Identity Toolkit and Secure Token do, and counts the sign-ins. */
async function startSignIn(known: readonly string[] = []) {
  const calls: string[] = [];
  const server = createServer((request, response) => {
    void readText(request).then((body) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
      const refreshed = new URLSearchParams(body).get('refresh_token') ?? '';
      calls.push(`${pathname} ${searchParams.get('key')}`);
      const isRefusal = pathname === '/v1/token' && !known.includes(refreshed);
      const n = calls.length;
      response.writeHead(isRefusal ? 400 : 200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify(
          pathname === '/v1/token'
            ? { id_token: `id-${n}`, refresh_token: refreshed, expires_in: '3600' }
            : { idToken: `id-${n}`, refreshToken: `refresh-${n}`, expiresIn: '3600' },
        ),
      );
    });
  });
  const { url, close } = await openServer(server);
  closers.push(close);
  return { calls, firebase: { apiKey: 'web-key', authUrl: url, tokenUrl: url } };
}

function memoryStorage(entries: Record<string, string> = {}) {
  const stored = new Map(Object.entries(entries));
  return {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
    removeItem: (key: string) => void stored.delete(key),
  };
}

describe('a guest', () => {
  test('a guest is signed in once for parallel calls, and remembered by the refresh token', async () => {
    const { calls, firebase } = await startSignIn();
    const storage = memoryStorage();
    const session = guestSession({ firebase, storage, fetch, now: () => 0 });

    const tokens = await Promise.all([session.token(), session.token()]);

    expect(tokens).toEqual(['id-1', 'id-1']);
    expect(calls).toEqual(['/v1/accounts:signUp web-key']);
    expect(storage.getItem('recap.refreshToken')).toBe('refresh-1');
  });

  test('a guest whose refresh token is refused is a new user', async () => {
    const { calls, firebase } = await startSignIn();
    const storage = memoryStorage({ 'recap.refreshToken': 'revoked' });
    const session = guestSession({ firebase, storage, fetch, now: () => 0 });

    expect(await session.token()).toBe('id-2');
    expect(calls).toEqual(['/v1/token web-key', '/v1/accounts:signUp web-key']);
  });

  test('a guest gets another token before the hour is over', async () => {
    const { firebase } = await startSignIn(['refresh-1']);
    const clock = { now: 0 };
    const storage = memoryStorage();
    const session = guestSession({ firebase, storage, fetch, now: () => clock.now });
    await session.token();

    clock.now = 3_590_000;

    expect(await session.token()).toBe('id-2');
  });
});
