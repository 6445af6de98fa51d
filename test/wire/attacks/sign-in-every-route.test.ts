import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createIdTokenVerifier } from '#functions/adapters/auth/id-token-verifier.ts';
import { loadRoutes } from '#functions/chat/chat-routes.ts';
import { localConfig } from '#infra/local/local-config.ts';
import { idTokenClaims, startTokenKeys, type TokenKeys } from '#test/support/token-keys.ts';
import { createWireApp, type WireApp } from '#test/support/chat/wire-app.ts';

const chatRoutes = await loadRoutes();

const PROJECT = 'recap-every-route';

let keys: TokenKeys;
let app: WireApp;

beforeAll(async () => {
  keys = await startTokenKeys();
  const environment = {
    GOOGLE_CLOUD_PROJECT: PROJECT,
    ID_TOKEN_KEYS_URL: keys.url,
  };
  app = createWireApp({ idTokens: createIdTokenVerifier(localConfig(environment)) }, environment);
});
afterAll(() => keys.close());

const claims = (changes: Record<string, unknown> = {}) => idTokenClaims(PROJECT, 'alice', changes);
const past = () => Math.floor(Date.now() / 1_000) - 60;

const tokens: readonly [string, string, () => Promise<string | undefined> | string][] = [
  ['no token', 'ID_TOKEN_MISSING', () => Promise.resolve(undefined)],
  ['an expired one', 'ID_TOKEN_EXPIRED', () => keys.sign(claims({ exp: past() }))],
  ['one of another project', 'ID_TOKEN_INVALID', () => keys.sign(claims({ aud: 'other' }))],
  [
    'one of another issuer',
    'ID_TOKEN_INVALID',
    () => keys.sign(claims({ iss: 'https://securetoken.google.com/other' })),
  ],
  ['an unsigned one (alg none)', 'ID_TOKEN_INVALID', () => keys.unsigned(claims())],
  ['one of an unknown key', 'ID_TOKEN_INVALID', () => keys.sign(claims(), { kid: 'key-9' })],
  ['a forged one', 'ID_TOKEN_INVALID', () => keys.sign(claims(), { forged: true })],
];

const routes = chatRoutes
  .filter(({ access }) => access === 'user')
  .flatMap(({ method, path, aliases = [] }) =>
    [path, ...aliases].map((each) => [method, each] as const),
  );

const addressOf = (path: string) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === 'turnId' ? 't_1' : randomUUID()));

describe.each(routes)('S1: %s %s', (method, path) => {
  test.each(tokens)('S1: a call of a route is refused with %s', async (_, reason, tokenOf) => {
    const answer = await app.call({
      method,
      path: addressOf(path),
      uid: await tokenOf(),
      body: method === 'GET' ? undefined : '{"nobody":"reads this"',
    });

    const { error } = JSON.parse(answer.text);
    expect({ status: answer.status, name: error.status }).toEqual({
      status: 401,
      name: 'UNAUTHENTICATED',
    });
    expect(error.details[0].reason).toBe(reason);
  });
});

test('a valid token is admitted', async () => {
  const uid = await keys.sign(claims());
  const answer = await app.call({ method: 'GET', path: '/v1/conversations', uid });

  expect(answer.status).toBe(200);
});
