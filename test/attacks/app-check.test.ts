import { createAppCheckVerifier } from '#functions/adapters/tokens.ts';
import { loadRoutes } from '#functions/chat/chat-routes.ts';
import { spendAppCheckToken } from '#functions/chat/http/authenticate.ts';
import { parseConfig } from '#functions/config.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { GuardLostError } from '#shared/lib/errors.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import {
  errorOf,
  startChatServer,
  createConversation,
  expectClean,
} from '#test/support/chat/chat-server.ts';
import { appCheckClaims, idTokenClaims } from '#test/support/token-keys.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';

const chatRoutes = await loadRoutes();

/* Row S2 of the security checklist: App Check tokens that are missing, forged or sent again. */

const NUMBER = '123456789012';
const enforced = { APP_CHECK: 'enforced', APP_CHECK_PROJECT_NUMBER: NUMBER };

const chat = await startChatServer({
  environment: { ...enforced, APP_CHECK: 'once' },
});
afterAll(() => chat.stop());

const nowSeconds = () => Math.floor(Date.now() / 1_000);
const claims = (changes: Record<string, unknown> = {}) => appCheckClaims(NUMBER, changes);
const appToken = (changes: Record<string, unknown> = {}) => chat.keys.sign(claims(changes));
const withToken = (token: string) => ({ headers: { 'x-firebase-appcheck': token } });
const withApp = async () => withToken(await appToken());

const addressOf = (path: string) => path.replaceAll(/\{(\w+)\}/g, () => randomUUID());

const forged: [string, () => Promise<string> | string][] = [
  ['alg none', () => chat.keys.unsigned(claims())],
  ['another key', () => chat.keys.sign(claims(), { forged: true })],
  ['an unknown key id', () => chat.keys.sign(claims(), { kid: 'lure' })],
  ['another type', () => chat.keys.sign(claims(), { header: { typ: 'at+jwt' } })],
  ['another project as audience', () => appToken({ aud: ['projects/99'] })],
  ['the number alone as audience', () => appToken({ aud: NUMBER })],
  ['no audience', () => appToken({ aud: undefined })],
  ['another issuer', () => appToken({ iss: `https://evil.example/${NUMBER}` })],
  ['no issuer', () => appToken({ iss: undefined })],
  ['an expiry in the past', () => appToken({ exp: nowSeconds() - 60 })],
  ['no expiry', () => appToken({ exp: undefined })],
  ['an issue time in the future', () => appToken({ iat: nowSeconds() + 600 })],
  ['no app', () => appToken({ sub: undefined })],
  ['an app that is a list', () => appToken({ sub: ['1:1:ios:1'] })],
  ['an ID token in its place', () => chat.keys.sign(idTokenClaims(chat.project, 'alice'))],
  ['no dots', () => 'app'],
];

test('S2: a valid App Check token lets a request pass', async () => {
  const response = await chat.call('/v1/conversations', await withApp());

  expect(response.status).toBe(200);
});

test.each(
  chatRoutes
    .filter(({ access }) => access === 'user')
    .map(({ method, path }) => [method, path] as const),
)(
  'S2: enforced App Check refuses %s %s without a token before reading its body',
  async (method, path) => {
    const body = method === 'GET' ? {} : { body: '{"half a body' };
    const response = await chat.call(addressOf(path), { method, ...body });

    // In the words of each façade's protocol.
    const text = await response.text();
    expect(response.status).toBe(401);
    expect(text).toContain('APP_CHECK_MISSING');
  },
);

test.each(forged)('S2: an App Check token with %s is refused', async (_, make) => {
  const error = await errorOf(await chat.call('/v1/conversations', withToken(await make())));

  expectClean(error);
  expect(error).toMatchObject({ http: 401, reason: 'APP_CHECK_INVALID' });
});

test('S2: a valid App Check token does not replace an ID token', async () => {
  const response = await chat.call('/v1/conversations', { uid: null, ...(await withApp()) });

  expect(await errorOf(response)).toMatchObject({ http: 401, reason: 'ID_TOKEN_MISSING' });
});

test('S2: only the apps of APP_CHECK_APPS are admitted', async () => {
  const verifier = createAppCheckVerifier({
    APP_CHECK_PROJECT_NUMBER: NUMBER,
    APP_CHECK_APPS: ['1:1:ios:a', '1:1:android:b'],
    APP_CHECK_KEYS_URL: chat.keys.url,
  });
  const listed = await appToken({ sub: '1:1:android:b' });

  expect(await verifier.verify(listed)).toMatchObject({ appId: '1:1:android:b' });
  const refused = verifier.verify(await appToken());
  await expect(refused).rejects.toMatchObject({ reason: 'APP_CHECK_INVALID' });
});

test('S2: a limited-use token sent twenty times at once serves once', async () => {
  const token = await appToken();
  const conversations = await Promise.all(
    Array.from({ length: 20 }, async () => createConversation(chat, await withApp())),
  );

  const answers = await Promise.all(
    conversations.map(({ id }) =>
      chat.call(`/v1/conversations/${id}`, { method: 'DELETE', ...withToken(token) }),
    ),
  );

  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  expect(statuses.filter((status) => status === 401)).toHaveLength(19);
});

test.each([
  ['GET', `/v1/conversations/${randomUUID()}:export`],
  ['POST', '/v1/users/me:export'],
  ['POST', '/v1/users/me:erase'],
  ['POST', '/v1/users/me:claim'],
])('S2: a limited-use token is used up by %s %s', async (method, path) => {
  const call = { method, uid: randomUUID(), ...(await withApp()) };

  await (await chat.call(path, call)).text();

  expect(await errorOf(await chat.call(path, call))).toMatchObject({
    reason: 'APP_CHECK_REPLAYED',
  });
});

test('S2: a limited-use token without an id is known by its signed content', async () => {
  const token = await appToken({ jti: undefined });
  const verifier = createAppCheckVerifier({
    ...enforced,
    APP_CHECK_APPS: [],
    APP_CHECK_KEYS_URL: chat.keys.url,
  });
  // The last character of 342 holds bits that decoding drops.
  const last = token.at(-1) ?? '';
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const twin = token.slice(0, -1) + alphabet[alphabet.indexOf(last) ^ 1];

  const one = await verifier.verify(token);
  const other = await verifier.verify(twin).catch(() => one);

  expect(other.tokenId).toBe(one.tokenId);
});

test('S2: a limited-use token is not used up where nothing is lost', async () => {
  const app = await withApp();

  const statuses = [];
  for (let n = 0; n < 2; n++) statuses.push((await chat.call('/v1/conversations', app)).status);

  expect(statuses).toEqual([200, 200]);
});

test('S2: a limited-use token passes when the lost write of its record was its own', async () => {
  const memory = createMemoryDocumentStore();
  const store: DocumentStore = {
    ...memory,
    commit: async (writes) => {
      await memory.commit(writes);
      throw new GuardLostError({ paths: writes.map(({ path }) => path) });
    },
  };

  const spent = spendAppCheckToken(
    { store, sha256: () => 'hash', randomness: { uuid: () => 'nonce' } },
    { appId: 'app', tokenId: 'secret', expireTime: new Date() },
  );

  await expect(spent).resolves.toBeUndefined();
});

test.each([
  ['APP_CHECK_PROJECT_NUMBER', { APP_CHECK: 'enforced' }],
  ['APP_CHECK_PROJECT_NUMBER', { APP_CHECK_PROJECT_NUMBER: 'my-project' }],
  ['APP_CHECK', { APP_CHECK: 'on' }],
  ['CHECK_REVOKED', { CHECK_REVOKED: 'sometimes' }],
])('the App Check configuration names %s where %o is invalid', (variable, environment) => {
  const parse = () => parseConfig({ GOOGLE_CLOUD_PROJECT: 'demo-p', ...environment });

  expect(parse).toThrow(new RegExp(`${variable}: `));
});
