import { afterAll, expect, test } from 'vitest';
import { createPushTokenVerifier } from '#functions/adapters/tokens.ts';
import { buildDue, see, compactionBench } from '#test/support/compaction/compacted-conversation.ts';
import { pushOf, requestFor, serveInFramework } from '#test/support/processes/pushing.ts';
import { idTokenClaims, startTokenKeys } from '#test/support/token-keys.ts';

/* Pushes to the worker that Pub/Sub did not send. */

const ACCOUNT = 'push@p.iam.gserviceaccount.com';
const AUDIENCE = 'https://worker.run.app';

const keys = await startTokenKeys();
afterAll(() => keys.close());

const nowSeconds = () => Math.floor(Date.now() / 1_000);
const claims = (changes: Record<string, unknown> = {}) => ({
  iss: 'https://accounts.google.com',
  aud: AUDIENCE,
  azp: '1234',
  sub: '1234',
  email: ACCOUNT,
  email_verified: true,
  iat: nowSeconds() - 10,
  exp: nowSeconds() + 600,
  ...changes,
});
const signed = (changes: Record<string, unknown> = {}) => keys.sign(claims(changes));

const settings = {
  PUSH_AUDIENCE: AUDIENCE,
  PUSH_SERVICE_ACCOUNT: ACCOUNT,
  PUSH_TOKEN_KEYS_URL: keys.url,
  allowUnsignedPush: false,
};

/** The worker with a conversation that is due, and what is left of both after a push. */
async function pushWith(authorization: string | undefined) {
  const bench = compactionBench({
    pushTokens: createPushTokenVerifier(settings),
  });
  const conversationId = await buildDue(bench);
  const url = await serveInFramework(bench);
  const response = await fetch(url, {
    method: 'POST',
    body: pushOf(requestFor(conversationId)),
    headers: { ...(authorization !== undefined && { authorization }) },
  });
  return { response, bench, left: await see(bench.store, conversationId) };
}

const forged: [string, () => Promise<string | undefined> | string | undefined][] = [
  ['no token', () => undefined],
  ['an empty token', () => 'Bearer '],
  ['a password', () => 'Basic cHVzaDpwdXNo'],
  ['an unsigned token', () => `Bearer ${keys.unsigned(claims())}`],
  ['another signature', async () => `Bearer ${await keys.sign(claims(), { forged: true })}`],
  ['an unknown key', async () => `Bearer ${await keys.sign(claims(), { kid: 'lure' })}`],
  [
    'no key id',
    async () => `Bearer ${await keys.sign(claims(), { forged: true, header: { kid: undefined } })}`,
  ],
  ['another audience', async () => `Bearer ${await signed({ aud: 'https://chat.run.app' })}`],
  ['no audience', async () => `Bearer ${await signed({ aud: undefined })}`],
  [
    'another service account',
    async () => `Bearer ${await signed({ email: 'eve@p.iam.gserviceaccount.com' })}`,
  ],
  [
    'an account that begins alike',
    async () => `Bearer ${await signed({ email: `${ACCOUNT}.evil.example` })}`,
  ],
  ['no e-mail', async () => `Bearer ${await signed({ email: undefined })}`],
  [
    'an e-mail that is not verified',
    async () => `Bearer ${await signed({ email_verified: false })}`,
  ],
  [
    'an e-mail verified as a text',
    async () => `Bearer ${await signed({ email_verified: 'true' })}`,
  ],
  [
    'another issuer',
    async () => `Bearer ${await signed({ iss: 'https://accounts.google.com.evil' })}`,
  ],
  ['an expiry in the past', async () => `Bearer ${await signed({ exp: nowSeconds() - 60 })}`],
  ['no expiry', async () => `Bearer ${await signed({ exp: undefined })}`],
  ['an ID token of a user', async () => `Bearer ${await keys.sign(idTokenClaims('p', 'alice'))}`],
];

test.each(forged)('S18: a push with %s is refused, and nothing is done', async (_, make) => {
  const { response, bench, left } = await pushWith(await make());

  expect(response.status).toBe(401);
  expect(await response.json()).toMatchObject({
    error: { code: 401, details: [{ reason: 'PUSH_TOKEN_INVALID' }] },
  });
  expect(left).toMatchObject({ conversation: { generation: 0 }, job: undefined });
  expect(bench.model.calls).toEqual([]);
});

test('S18: the push token of Pub/Sub is accepted', async () => {
  const { response, left } = await pushWith(`Bearer ${await signed()}`);

  expect(response.status).toBe(204);
  expect(left.conversation.generation).toBe(1);
});

test('S18: every push is refused while the deployment names no audience', async () => {
  const verifier = createPushTokenVerifier({ ...settings, PUSH_AUDIENCE: undefined });

  const verified = verifier.verify(`Bearer ${await signed()}`);

  await expect(verified).rejects.toMatchObject({ status: 'UNAUTHENTICATED' });
});
