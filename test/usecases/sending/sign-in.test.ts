import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { createIdTokenVerifier } from '#functions/adapters/auth/id-token-verifier.ts';
import { createPushTokenVerifier } from '#functions/adapters/auth/push-token-verifier.ts';
import { AppError } from '#shared/errors.ts';
import { loadRoutes } from '#functions/chat/chat-routes.ts';
import { errorOf, startChatServer } from '#test/support/chat/chat-server.ts';
import { idTokenClaims, startTokenKeys } from '#test/support/token-keys.ts';

const chatRoutes = await loadRoutes();

const chat = await startChatServer();
afterAll(() => chat.stop());

const claims = (changes: Record<string, unknown> = {}) =>
  idTokenClaims(chat.project, 'alice', changes);
const nowSeconds = () => Math.floor(Date.now() / 1_000);

const badTokens: [string, string, () => Promise<string> | string][] = [
  ['expired', 'ID_TOKEN_EXPIRED', () => chat.keys.sign(claims({ exp: nowSeconds() - 60 }))],
  ['unsigned (alg none)', 'ID_TOKEN_INVALID', () => chat.keys.unsigned(claims())],
  ['of another project', 'ID_TOKEN_INVALID', () => chat.keys.sign(claims({ aud: 'other' }))],
  ['of another issuer', 'ID_TOKEN_INVALID', () => chat.keys.sign(claims({ iss: 'https://x' }))],
  ['signed by an unknown key', 'ID_TOKEN_INVALID', () => chat.keys.sign(claims(), { kid: 'k2' })],
  ['with a forged signature', 'ID_TOKEN_INVALID', () => chat.keys.sign(claims(), { forged: true })],
  ['without a subject', 'ID_TOKEN_INVALID', () => chat.keys.sign(claims({ sub: undefined }))],
  ['with an empty subject', 'ID_TOKEN_INVALID', () => chat.keys.sign(claims({ sub: '' }))],
  [
    'with a subject of 129',
    'ID_TOKEN_INVALID',
    () => chat.keys.sign(claims({ sub: 'x'.repeat(129) })),
  ],
  ['without an expiry', 'ID_TOKEN_INVALID', () => chat.keys.sign(claims({ exp: undefined }))],
  [
    'issued in the future',
    'ID_TOKEN_INVALID',
    () => chat.keys.sign(claims({ iat: nowSeconds() + 600 })),
  ],
  [
    'for two audiences',
    'ID_TOKEN_INVALID',
    () => chat.keys.sign(claims({ aud: [chat.project, 'other'] })),
  ],
  [
    'of a sign-in to come',
    'ID_TOKEN_INVALID',
    () => chat.keys.sign(claims({ auth_time: nowSeconds() + 600 })),
  ],
  [
    'without a sign-in time',
    'ID_TOKEN_INVALID',
    () => chat.keys.sign(claims({ auth_time: undefined })),
  ],
  ['that is no token', 'ID_TOKEN_INVALID', () => 'not.a.token'],
  [
    'with its payload changed',
    'ID_TOKEN_INVALID',
    async () => {
      const [header, , signature] = (await chat.keys.sign(claims())).split('.');
      const payload = Buffer.from(JSON.stringify(claims({ sub: 'bob' }))).toString('base64url');
      return `${header}.${payload}.${signature}`;
    },
  ],
];

describe('an ID token', () => {
  test('a valid ID token admits its user', async () => {
    const response = await chat.call('/v1/conversations', {
      token: await chat.keys.sign(claims()),
    });

    expect(response.status).toBe(200);
  });

  test.each(badTokens)('an ID token is refused: %s', async (_, reason, token) => {
    const response = await chat.call('/v1/conversations', { token: await token() });

    const error = await errorOf(response);
    expect(error).toMatchObject({ http: 401, status: 'UNAUTHENTICATED', reason });
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
  });

  test.each([
    ['no header', undefined],
    ['another scheme', 'Basic YWxpY2U6eA=='],
    ['an empty one', 'Bearer '],
  ])('an ID token is required when there is %s', async (_, authorization) => {
    const response = await chat.call('/v1/conversations', {
      uid: null,
      headers: authorization === undefined ? {} : { authorization },
    });

    expect(await errorOf(response)).toMatchObject({ http: 401, reason: 'ID_TOKEN_MISSING' });
  });

  test.each(
    chatRoutes
      .filter(({ access }) => access === 'user')
      .flatMap(({ method, path, aliases = [] }) =>
        [path, ...aliases].map((each) => [method, each]),
      ),
  )('an ID token is required for %s %s', async (method, path) => {
    const address = path
      .replace('{conversationId}', randomUUID())
      .replace('{turnId}', 't_1')
      .replace('{generation}', '1');
    const response = await chat.call(address, { method, uid: null });

    expect(await errorOf(response)).toMatchObject({ http: 401, reason: 'ID_TOKEN_MISSING' });
  });

  test('health needs no ID token', async () => {
    const response = await chat.call('/v1/health', { uid: null });

    expect(await response.json()).toEqual({ status: 'ok' });
  });

  test('an ID token of an unknown key does not refetch the keys repeatedly', async () => {
    const before = chat.keys.fetches();
    const token = await chat.keys.sign(claims(), { kid: 'k3' });
    await Promise.all(Array.from({ length: 10 }, () => chat.call('/v1/conversations', { token })));

    expect(chat.keys.fetches() - before).toBeLessThanOrEqual(1);
  });
});

describe('the ID token verifier', () => {
  const settings = (changes: object = {}) => ({
    GOOGLE_CLOUD_PROJECT: 'demo-p',
    ID_TOKEN_KEYS_URL: 'http://127.0.0.1:9/keys',
    allowUnsignedIdTokens: true,
    ...changes,
  });

  test('the verifier accepts unsigned tokens where configured, and still checks their claims', async () => {
    const verifier = createIdTokenVerifier(settings());
    const good = chat.keys.unsigned(idTokenClaims('demo-p', 'alice'));
    const other = chat.keys.unsigned(idTokenClaims('demo-q', 'alice'));

    expect(await verifier.verify(good)).toMatchObject({ uid: 'alice', tier: 'signedIn' });
    await expect(verifier.verify(other)).rejects.toMatchObject({ reason: 'ID_TOKEN_INVALID' });
  });

  test('the verifier recognises an anonymous user', async () => {
    const token = chat.keys.unsigned(
      idTokenClaims('demo-p', 'guest', { firebase: { sign_in_provider: 'anonymous' } }),
    );

    const caller = await createIdTokenVerifier(settings()).verify(token);

    expect(caller).toMatchObject({ uid: 'guest', tier: 'anonymous' });
  });

  test('the verifier does not blame the token when the keys cannot be fetched', async () => {
    const token = await chat.keys.sign(idTokenClaims('demo-p', 'alice'));

    const verified = createIdTokenVerifier(settings()).verify(token);

    await expect(verified).rejects.toMatchObject({ status: 'UNAVAILABLE', retryable: true });
  });
});

describe('a push token', () => {
  const account = 'push@p.iam.gserviceaccount.com';
  const audience = 'https://worker.run.app';
  const pushClaims = (changes: object = {}) => ({
    iss: 'https://accounts.google.com',
    aud: audience,
    email: account,
    email_verified: true,
    exp: nowSeconds() + 600,
    ...changes,
  });
  const verifierOf = (url: string, changes: object = {}) =>
    createPushTokenVerifier({
      PUSH_AUDIENCE: audience,
      PUSH_SERVICE_ACCOUNT: account,
      PUSH_TOKEN_KEYS_URL: url,
      allowUnsignedPush: false,
      ...changes,
    });

  test('a push token of the pushing account is accepted', async () => {
    const header = `Bearer ${await chat.keys.sign(pushClaims())}`;

    await expect(verifierOf(chat.keys.url).verify(header)).resolves.toBeUndefined();
  });

  test.each([
    ['for another audience', { aud: 'https://other' }],
    ['of another account', { email: 'eve@p.iam.gserviceaccount.com' }],
    ['with an e-mail that is not verified', { email_verified: false }],
    ['of another issuer', { iss: 'https://securetoken.google.com/p' }],
    ['that has expired', { exp: 1_000 }],
  ])('a push token is refused: %s', async (_, changes) => {
    const header = `Bearer ${await chat.keys.sign(pushClaims(changes))}`;

    const verified = verifierOf(chat.keys.url).verify(header);

    await expect(verified).rejects.toMatchObject({ status: 'UNAUTHENTICATED' });
  });

  test('a push token signed by somebody else is refused', async () => {
    const stranger = await startTokenKeys();
    const header = `Bearer ${await stranger.sign(pushClaims())}`;
    await stranger.close();

    await expect(verifierOf(chat.keys.url).verify(header)).rejects.toBeInstanceOf(AppError);
  });

  test.each([
    ['is needed', {}],
    ['is needed even with settings missing', { PUSH_AUDIENCE: undefined }],
  ])('the push token check: %s', async (_, changes) => {
    const verified = verifierOf(chat.keys.url, changes).verify(undefined);

    await expect(verified).rejects.toMatchObject({ status: 'UNAUTHENTICATED' });
  });

  test('a push token may be missing on emulators', async () => {
    const verifier = verifierOf(chat.keys.url, { allowUnsignedPush: true });

    await expect(verifier.verify(undefined)).resolves.toBeUndefined();
  });

  test('a push token is refused while the deployment names no audience', async () => {
    const header = `Bearer ${await chat.keys.sign(pushClaims())}`;

    const verified = verifierOf(chat.keys.url, { PUSH_AUDIENCE: undefined }).verify(header);

    await expect(verified).rejects.toMatchObject({ status: 'UNAUTHENTICATED' });
  });
});
