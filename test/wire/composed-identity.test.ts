import { createChatApp } from '#functions/chat/chat-app.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createDependencies } from '#functions/dependencies.ts';
import { localConfig } from '#infra/local/local-config.ts';
import { errorOf } from '#test/support/chat/chat-server.ts';
import { chatDependencies } from '../support/chat/chat-dependencies.ts';
import { openForTest } from '../support/open-for-test.ts';
import { appCheckClaims, idTokenClaims, startTokenKeys } from '../support/token-keys.ts';
import { createServer } from 'node:http';
import { afterAll, expect, test } from 'vitest';

/* The checks as production composes them: only store, bus and model are replaced. */

const keys = await startTokenKeys();
afterAll(() => keys.close());

async function composed(environment: Record<string, string> = {}) {
  const config = localConfig({
    GOOGLE_CLOUD_PROJECT: 'p1',
    ID_TOKEN_KEYS_URL: keys.url,
    APP_CHECK_KEYS_URL: keys.url,
    // Nobody listens there.
    IDENTITY_TOOLKIT_URL: 'http://127.0.0.1:9',
    ...environment,
  });
  const { store, publisher, model, logger } = chatDependencies();
  const dependencies = await createDependencies(config, {
    store,
    publisher,
    logger,
    model: {
      ...model,
      generate: () => Promise.reject(new Error('not asked')),
      countTokens: () => Promise.resolve(1),
    },
  }).chat();
  const app = createChatApp({ ...dependencies, sendMessage, heartbeatMs: 1_000 });
  const token = await keys.sign(idTokenClaims('p1', 'alice'));
  return async (method: string, path: string, headers: Record<string, string> = {}) => {
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
    return app.fetch(request, {
      work: [],
      breakOff: () => undefined,
      left: new AbortController().signal,
    });
  };
}

test('the composed chat function enforces App Check', async () => {
  const call = await composed({ APP_CHECK: 'enforced', APP_CHECK_PROJECT_NUMBER: '42' });
  const appToken = await keys.sign(appCheckClaims('42'));

  const without = await errorOf(await call('GET', '/v1/conversations'));
  const withOne = await call('GET', '/v1/conversations', { 'X-Firebase-AppCheck': appToken });

  expect(without).toMatchObject({ http: 401, reason: 'APP_CHECK_MISSING' });
  expect(withOne.status).toBe(200);
});

test('the composed chat function erases nobody whose sign-in it cannot look up, and asks no emulator for it', async () => {
  const call = await composed({ FIREBASE_AUTH_EMULATOR_HOST: '127.0.0.1:1' });

  const error = await errorOf(await call('POST', '/v1/users/me:erase'));

  expect(error).toMatchObject({ http: 503, reason: 'ACCOUNT_LOOKUP_FAILED' });
});

test('the composed chat function asks the Auth emulator with the token’s tenant in a demo- project', async () => {
  const asked: unknown[] = [];
  const emulator = createServer((request, response) => {
    asked.push([request.url, request.headers.authorization]);
    response.end(JSON.stringify({ users: [{ localId: 'alice', disabled: true }] }));
  });
  const { url } = await openForTest(emulator);
  const call = await composed({
    GOOGLE_CLOUD_PROJECT: 'demo-p',
    FIREBASE_AUTH_EMULATOR_HOST: new URL(url).host,
    CHECK_REVOKED: 'always',
  });
  const firebase = { sign_in_provider: 'password', tenant: 'north-1' };
  const token = await keys.sign({ ...idTokenClaims('demo-p', 'alice'), firebase });

  const error = await errorOf(
    await call('GET', '/v1/conversations', { authorization: `Bearer ${token}` }),
  );

  expect(error).toMatchObject({ http: 401, reason: 'USER_DISABLED' });
  const path = '/v1/projects/demo-p/tenants/north-1/accounts:lookup';
  expect(asked).toEqual([[`/identitytoolkit.googleapis.com${path}`, 'Bearer owner']]);
});
