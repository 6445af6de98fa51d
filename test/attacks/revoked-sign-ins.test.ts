import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createAccountRevocationCheck } from '#functions/adapters/accounts.ts';
import { localConfig } from '#infra/local/local-config.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { errorOf, startChatServer, createConversation } from '#test/support/chat/chat-server.ts';
import { openForTest } from '#test/support/open-for-test.ts';

interface Lookup {
  path: string | undefined;
  authorization: string | undefined;
  body: unknown;
}

/** Identity Toolkit, answering every look-up as `answer` says. */
async function identityToolkit(answer: (uid: string) => { status?: number; body: unknown }) {
  const lookups: Lookup[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const body = JSON.parse(await text(request));
      const { authorization } = request.headers;
      lookups.push({ path: request.url, authorization, body });
      const { status = 200, body: reply } = answer(body.localId[0]);
      response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(typeof reply === 'string' ? reply : JSON.stringify(reply));
    })();
  });
  const { url } = await openForTest(server);
  return { lookups, baseUrl: url };
}

const accountOf =
  (changes: object = {}) =>
  (uid: string) => ({
    body: { users: [{ localId: uid, validSince: '1000', ...changes }] },
  });
const tokens = {
  get: () => Promise.resolve('access-1'),
  renew: () => Promise.resolve('access-2'),
};
const signedIn = (seconds: number) =>
  ({ uid: 'alice', tier: 'signedIn', signedInAt: new Date(seconds * 1_000) }) as const;

async function checkAgainst(answer: (uid: string) => { status?: number; body: unknown }) {
  const toolkit = await identityToolkit(answer);
  const clock = createManualClock(new Date('2026-11-01T12:00:00Z'));
  const revocations = createAccountRevocationCheck({
    projectId: 'p1',
    baseUrl: toolkit.baseUrl,
    accessTokens: tokens,
    clock,
  });
  return { ...toolkit, clock, revocations };
}

test('the sign-in check asks Identity Toolkit for the account of the tenant, with the function’s access token', async () => {
  const { revocations, lookups } = await checkAgainst(accountOf());

  for (const tenant of ['north-1', 'south-2', 'north-1'])
    await revocations.check({ ...signedIn(2_000), tenant });
  await revocations.check(signedIn(2_000));

  expect(lookups.map(({ path }) => path)).toEqual([
    '/v1/projects/p1/tenants/north-1/accounts:lookup',
    '/v1/projects/p1/tenants/south-2/accounts:lookup',
    '/v1/projects/p1/accounts:lookup',
  ]);
  expect(lookups[2]).toMatchObject({
    authorization: 'Bearer access-1',
    body: { localId: ['alice'] },
  });
});

test.each([
  ['of before the revocation', accountOf({ validSince: '2001' }), 'ID_TOKEN_REVOKED'],
  ['of a disabled account', accountOf({ disabled: true }), 'USER_DISABLED'],
  ['of an account that is gone', () => ({ body: {} }), 'ID_TOKEN_REVOKED'],
  [
    'when another account is answered',
    () => ({ body: { users: [{ localId: 'bob' }] } }),
    'ID_TOKEN_REVOKED',
  ],
])('the sign-in check refuses an account %s', async (_, answer, reason) => {
  const { revocations } = await checkAgainst(answer);

  await expect(revocations.check(signedIn(2_000))).rejects.toMatchObject({
    status: 'UNAUTHENTICATED',
    reason,
  });
});

test.each([
  ['of the second of the revocation', accountOf({ validSince: '2000' })],
  ['of an account that was never revoked', accountOf({ validSince: undefined })],
])('the sign-in check admits an account %s', async (_, answer) => {
  const { revocations } = await checkAgainst(answer);

  await expect(revocations.check(signedIn(2_000))).resolves.toBeUndefined();
});

test.each([
  ['403: the permission is missing', { status: 403, body: { error: {} } }],
  ['500', { status: 500, body: 'down' }],
  ['a redirect', { status: 302, body: '' }],
  ['no JSON', { body: '<html>' }],
  ['JSON of another shape', { body: { users: 'alice' } }],
  ['a megabyte', { body: { users: [], more: 'x'.repeat(1_000_000) } }],
])('the sign-in check never passes silently: %s is an outage', async (_, answer) => {
  const { revocations } = await checkAgainst(() => answer);

  await expect(revocations.check(signedIn(2_000))).rejects.toMatchObject({
    status: 'UNAVAILABLE',
    reason: 'ACCOUNT_LOOKUP_FAILED',
    retryable: true,
  });
});

test('the sign-in check asks once a minute, also for fifty parallel requests', async () => {
  let validSince = '1000';
  const { revocations, lookups, clock } = await checkAgainst((uid) =>
    accountOf({ validSince })(uid),
  );
  await Promise.all(Array.from({ length: 50 }, () => revocations.check(signedIn(2_000))));
  clock.advance(59_000);
  await revocations.check(signedIn(2_000));
  expect(lookups).toHaveLength(1);

  validSince = '3000';
  clock.advance(1_000);

  await expect(revocations.check(signedIn(2_000))).rejects.toMatchObject({
    reason: 'ID_TOKEN_REVOKED',
  });
});

describe('a revoked sign-in at the function', () => {
  /** The function with the account of alice as `answer` says. */
  async function chatWith(answer: Parameters<typeof checkAgainst>[0], environment = {}) {
    const { revocations, lookups } = await checkAgainst(answer);
    const chat = await startChatServer({ overrides: { revocations }, environment });
    onTestFinished(() => chat.stop());
    return { chat, lookups };
  }
  const isRevoked = accountOf({ validSince: '9999999999' });

  test('a revoked sign-in may still read, but not erase, delete, export or claim', async () => {
    const { chat } = await chatWith(isRevoked);
    const { id } = await createConversation(chat);

    const refused = await Promise.all([
      chat.call(`/v1/conversations/${id}`, { method: 'DELETE' }),
      chat.call(`/v1/conversations/${id}?permanent=true`, { method: 'DELETE' }),
      chat.call(`/v1/conversations/${id}:export`),
      chat.call('/v1/users/me:export', { method: 'POST' }),
      chat.call('/v1/users/me:erase', { method: 'POST' }),
      chat.call('/v1/users/me:claim', { body: { guestToken: 'a-token' } }),
    ]);

    expect(await Promise.all(refused.map(errorOf))).toMatchObject(
      refused.map(() => ({ http: 401, reason: 'ID_TOKEN_REVOKED' })),
    );
    expect((await chat.call(`/v1/conversations/${id}`)).status).toBe(200);
  });

  test('a revoked sign-in can do nothing where every request is checked', async () => {
    const { chat } = await chatWith(isRevoked, { CHECK_REVOKED: 'always' });

    const error = await errorOf(await chat.call('/v1/conversations', { body: {} }));

    expect(error).toMatchObject({ http: 401, reason: 'ID_TOKEN_REVOKED' });
  });

  test('nothing is erased while Firebase Auth is down', async () => {
    const { chat } = await chatWith(() => ({ status: 500, body: '' }));
    const { id } = await createConversation(chat);

    const response = await chat.call('/v1/users/me:erase', { method: 'POST' });

    expect(response.headers.get('retry-after')).toBe('1');
    expect(await errorOf(response)).toMatchObject({ http: 503, reason: 'ACCOUNT_LOOKUP_FAILED' });
    expect((await chat.call(`/v1/conversations/${id}`)).status).toBe(200);
  });
});

const parse = (GOOGLE_CLOUD_PROJECT: string, environment = {}) =>
  localConfig({ GOOGLE_CLOUD_PROJECT, ...environment });

test.each([
  [
    'covers what cannot be taken back by default',
    parse(`p-${randomUUID().slice(0, 8)}`),
    'erasures',
  ],
  ['is off in a demo- project', parse('demo-p'), 'off'],
  ['can be had there', parse('demo-p', { CHECK_REVOKED: 'always' }), 'always'],
])('CHECK_REVOKED: %s', (_, config, expected) => {
  expect(config.CHECK_REVOKED).toBe(expected);
});
