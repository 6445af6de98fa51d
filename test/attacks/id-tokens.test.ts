import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { exportSPKI, importJWK, SignJWT } from 'jose';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { createIdTokenVerifier } from '#functions/adapters/tokens.ts';
import { loadRoutes } from '#functions/chat/chat-routes.ts';
import { openServer } from '#infra/local/processes/open-server.ts';
import { errorOf, startChatServer, expectClean } from '#test/support/chat/chat-server.ts';
import { searchCases } from '#test/support/search-cases.ts';
import { appCheckClaims, idTokenClaims, startTokenKeys } from '#test/support/token-keys.ts';

/* ID tokens that are missing, forged or of somebody else. */

const chat = await startChatServer();
/** Serves an attacker's keys; nobody may ask it. */
let lured = 0;
const lure = await openServer(
  createServer((_, response) => {
    lured += 1;
    response.end(JSON.stringify({ keys: [chat.keys.publicJwk] }));
  }),
);
const lureUrl = `${lure.url}/keys`;
afterAll(() => Promise.all([lure.close(), chat.stop()]));

const claims = (changes: Record<string, unknown> = {}) =>
  idTokenClaims(chat.project, 'alice', changes);
const signed = (changes: Record<string, unknown>) => chat.keys.sign(claims(changes));
const nowSeconds = () => Math.floor(Date.now() / 1_000);
const base64 = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const good = () => chat.keys.sign(claims());

/** A good token whose payload was replaced. */
async function withPayload(payload: object) {
  const [header, , signature] = (await good()).split('.');
  return [header, base64(payload), signature].join('.');
}
/** Signed with a key that is none of ours, whatever the header says. */
const bySomebody = (header: Record<string, unknown>) =>
  chat.keys.sign(claims(), { forged: true, header });
async function withPublicKeyAsSecret() {
  const key = await importJWK(chat.keys.publicJwk, 'RS256');
  if (key instanceof Uint8Array) throw new Error('a public key is no secret');
  return new SignJWT(claims())
    .setProtectedHeader({ alg: 'HS256', kid: 'key-1', typ: 'JWT' })
    .sign(Buffer.from(await exportSPKI(key)));
}

const rs256 = { alg: 'RS256', kid: 'key-1' };

const forged: [string, () => Promise<string> | string][] = [
  ['alg none', () => chat.keys.unsigned(claims())],
  ['HS256 with the public key as secret', withPublicKeyAsSecret],
  ['another key under the right id', () => bySomebody({})],
  ['an embedded jwk', () => bySomebody({ jwk: chat.keys.publicJwk, kid: undefined })],
  ['a jku', () => bySomebody({ jku: lureUrl, kid: 'lure' })],
  ['a key id that is an address', () => bySomebody({ kid: lureUrl })],
  ['a key id of another key of the set', () => chat.keys.sign(claims(), { kid: 'key-0' })],
  ['no key id', () => bySomebody({ kid: undefined })],
  ['another subject under a real signature', () => withPayload(claims({ sub: 'bob' }))],
  ['no signature', async () => (await good()).split('.').slice(0, 2).join('.')],
  ['another audience', () => signed({ aud: 'other' })],
  ['a list of audiences', () => signed({ aud: [chat.project] })],
  ['no audience', () => signed({ aud: undefined })],
  ['the issuer of another project', () => signed({ iss: 'https://securetoken.google.com/other' })],
  [
    'the issuer of session cookies',
    () => signed({ iss: `https://session.firebase.google.com/${chat.project}` }),
  ],
  ['no issuer', () => signed({ iss: undefined })],
  ['an App Check token in its place', () => chat.keys.sign(appCheckClaims('1234567890'))],
  ['an expiry that is a text', () => signed({ exp: '9999999999' })],
  ['no expiry', () => signed({ exp: undefined })],
  ['a start in the future', () => signed({ nbf: nowSeconds() + 600 })],
  ['an issue time in the future', () => signed({ iat: nowSeconds() + 600 })],
  ['a sign-in in the future', () => signed({ auth_time: nowSeconds() + 600 })],
  ['no subject', () => signed({ sub: undefined })],
  ['an empty subject', () => signed({ sub: '' })],
  ['a subject of 129 characters', () => signed({ sub: 'x'.repeat(129) })],
  ['a subject with half a character', () => signed({ sub: 'a\uD800' })],
  ['a subject that is a list', () => signed({ sub: ['alice'] })],
];

test.each(forged)('S2: an ID token with %s is refused', async (_, make) => {
  const token = await make();

  const error = await errorOf(await chat.call('/v1/conversations', { token }));

  expectClean(error);
  expect(error).toMatchObject({ http: 401, reason: 'ID_TOKEN_INVALID' });
  expect(error.text).not.toContain(token.slice(0, 40));
});

test('S2: an ID token cannot make the service fetch keys from its own address', () => {
  expect(lured).toBe(0);
});

test('S2: an ID token of random header, claims and signature is refused', async () => {
  const verifier = createIdTokenVerifier({
    GOOGLE_CLOUD_PROJECT: chat.project,
    ID_TOKEN_KEYS_URL: chat.keys.url,
    allowUnsignedIdTokens: false,
  });
  const header = fc.dictionary(
    fc.constantFrom('alg', 'kid', 'typ', 'crit', 'b64', 'jwk', 'x5c', 'x5t', 'zip', 'enc', 'p2c'),
    fc.oneof(fc.jsonValue(), fc.constantFrom('RS256', 'ES256', 'HS256', 'none', 'key-1', 'key-0')),
  );
  const piece = fc.oneof(header.map(base64), fc.base64String(), fc.string());
  const token = fc
    .tuple(fc.array(piece, { maxLength: 6 }), header)
    .map(([pieces, last]) => [base64({ ...rs256, ...last }), ...pieces].join('.'));

  const property = fc.asyncProperty(token, async (text) => {
    await expect(verifier.verify(text)).rejects.toMatchObject({ reason: 'ID_TOKEN_INVALID' });
  });

  await expect(fc.assert(property, { numRuns: searchCases(2_000) })).resolves.toBeUndefined();
});

describe('S2: the keys', () => {
  /** A function whose keys come from a server of their own. */
  async function withOwnKeys() {
    const keys = await startTokenKeys();
    const fresh = await startChatServer({ environment: { ID_TOKEN_KEYS_URL: keys.url } });
    onTestFinished(() => fresh.stop());
    return { keys, fresh };
  }

  test('S2: a hundred ID tokens with unknown keys cause one key fetch', async () => {
    const { keys, fresh } = await withOwnKeys();
    onTestFinished(() => keys.close());
    const ours = idTokenClaims(fresh.project, 'alice');
    const send = async (kid: string) =>
      (await fresh.call('/v1/conversations', { token: await keys.sign(ours, { kid }) })).status;

    const first = await Promise.all(Array.from({ length: 50 }, (_, i) => send(`a${i}`)));
    const second = await Promise.all(Array.from({ length: 50 }, (_, i) => send(`b${i}`)));

    expect(new Set([...first, ...second])).toEqual(new Set([401]));
    expect(keys.fetches()).toBe(1);
  });

  test('S2: unreachable keys make no ID token valid and blame none', async () => {
    const { keys, fresh } = await withOwnKeys();
    await keys.close();

    const error = await errorOf(await fresh.call('/v1/conversations'));

    expect(error).toMatchObject({ http: 503, reason: 'KEYS_UNAVAILABLE' });
  });
});

const routes = (await loadRoutes())
  .filter(({ access }) => access === 'user')
  .flatMap(({ method, path, aliases = [] }) => [path, ...aliases].map((each) => [method, each]));

describe.each<[string, string, (() => Promise<string>) | null]>([
  ['no token', 'ID_TOKEN_MISSING', null],
  ['an expired one', 'ID_TOKEN_EXPIRED', () => signed({ exp: nowSeconds() - 60 })],
  ['a forged one', 'ID_TOKEN_INVALID', () => bySomebody({})],
])('S1: every route with %s', (_, reason, make) => {
  test.each(routes)(
    'S1: a call of %s %s is refused before its body is read',
    async (method, path) => {
      const address = path.replaceAll(/\{(\w+)\}/g, () => randomUUID());
      const token = make ? { token: await make() } : { uid: null };
      const body = method === 'GET' ? {} : { body: '{"nobody":"reads this"' };

      const response = await chat.call(address, { method, ...token, ...body });

      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="recap"');
      expect(await errorOf(response)).toMatchObject({ status: 'UNAUTHENTICATED', reason });
    },
  );
});
