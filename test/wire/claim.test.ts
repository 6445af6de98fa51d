import { claimPath } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/lib/errors.ts';
import { createWireApp } from '#test/support/chat/wire-app.ts';
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';

/** A token names its user; those of guests begin with `guest`. */
const app = createWireApp({
  idTokens: {
    verify: (token) =>
      token === 'expired'
        ? Promise.reject(
            new AppError({
              status: 'UNAUTHENTICATED',
              reason: 'ID_TOKEN_EXPIRED',
              publicMessage: 'The ID token has expired.',
            }),
          )
        : Promise.resolve({
            uid: token,
            tier: token.startsWith('guest') ? 'anonymous' : 'signedIn',
            signedInAt: new Date(0),
          }),
  },
});

const claim = (uid: string, body: object) =>
  app.call({ method: 'POST', path: '/v1/users/me:claim', uid, body: JSON.stringify(body) });

test.each([
  ['alice', { guestToken: 'expired' }, 400, 'GUEST_TOKEN_INVALID', 'guestToken'],
  ['alice', { guestToken: 'bob' }, 400, 'GUEST_TOKEN_INVALID', 'guestToken'],
  ['alice', { guestToken: 'alice' }, 400, 'GUEST_TOKEN_INVALID', 'guestToken'],
  ['alice', { guestToken: 'guest-of-bob' }, 409, 'GUEST_CLAIMED', undefined],
  ['guest-1', { guestToken: 'guest-2' }, 400, 'CALLER_IS_GUEST', undefined],
  ['alice', {}, 400, 'BAD_FIELD', 'guestToken'],
])('%s, who claims with %j, gets %i %s', async (uid, body, status, reason, field) => {
  await claim('bob', { guestToken: 'guest-of-bob' });

  const answer = await claim(uid, body);

  expect(answer.status).toBe(status);
  const [details] = JSON.parse(answer.text).error.details;
  expect(details).toMatchObject({ reason, ...(field && { metadata: { field } }) });
});

test('a claim answers how many conversations the guest had, and those are the caller’s', async () => {
  const path = `/v1/conversations/${randomUUID()}`;
  const message = { id: randomUUID(), parts: [{ type: 'text', text: 'Hello.' }] };
  const body = { message };
  await app.ok({ method: 'POST', path: `${path}/messages`, uid: 'guest-9', body });

  const answer = await claim('carol', { guestToken: 'guest-9' });

  expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { conversations: 1 }]);
  const statuses = ['carol', 'guest-9', 'alice'].map(
    async (uid) => (await app.call({ method: 'GET', path, uid })).status,
  );
  expect(await Promise.all(statuses)).toEqual([200, 404, 404]);
  const [stored] = await app.dependencies.store.get([claimPath('guest-9')]);
  expect(JSON.stringify(stored)).not.toContain('guestToken');
});
