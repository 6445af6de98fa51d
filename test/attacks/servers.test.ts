import { randomUUID } from 'node:crypto';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { loadRoutes } from '#functions/chat/chat-routes.ts';
import {
  createConversation,
  errorOf,
  expectClean,
  startChatServer,
} from '#test/support/chat/chat-server.ts';
import { appCheckClaims, idTokenClaims, serverClaims } from '#test/support/token-keys.ts';

/* Who passes for a server of the app, and names a user to act for. */

const AUDIENCE = 'https://chat.example.com';
const ACCOUNT = 'backend@my-app.iam.gserviceaccount.com';
const STRANGER = 'stranger@elsewhere.iam.gserviceaccount.com';
const HEADER = 'x-recap-on-behalf-of';

const chat = await startChatServer({
  environment: { ADMIN_SERVICE_ACCOUNTS: ACCOUNT, ADMIN_AUDIENCE: AUDIENCE },
});
afterAll(() => chat.stop());

const nowSeconds = () => Math.floor(Date.now() / 1_000);
const claims = (changes: Record<string, unknown> = {}) => serverClaims(AUDIENCE, ACCOUNT, changes);
const signed = (changes: Record<string, unknown> = {}) => chat.keys.sign(claims(changes));
const forAlice = { [HEADER]: 'alice' };

/** The last line of the log, with nothing else of it. */
const lastLine = () => chat.logs.findLast(({ event }) => event === 'request');

const forged: [string, () => Promise<string> | string][] = [
  ['alg none', () => chat.keys.unsigned(claims())],
  ['another key under the right id', () => chat.keys.sign(claims(), { forged: true })],
  ['an unknown key id', () => chat.keys.sign(claims(), { kid: 'lure' })],
  ['another audience', () => signed({ aud: 'https://elsewhere.example.com' })],
  ['the audience of gcloud', () => signed({ aud: '32555940559.apps.googleusercontent.com' })],
  ['a list of audiences', () => signed({ aud: [AUDIENCE, 'https://elsewhere.example.com'] })],
  ['no audience', () => signed({ aud: undefined })],
  ['no expiry', () => signed({ exp: undefined })],
  ['a start in the future', () => signed({ nbf: nowSeconds() + 600 })],
  ['an e-mail that is not verified', () => signed({ email_verified: false })],
  ['an e-mail that is verified by a text', () => signed({ email_verified: 'true' })],
  ['no e-mail', () => signed({ email: undefined })],
  ['a list of e-mails', () => signed({ email: [ACCOUNT] })],
  ['another issuer', () => signed({ iss: 'https://accounts.google.com.evil.example' })],
  ['no issuer', () => signed({ iss: undefined })],
  ['the issuer of users', () => signed({ iss: `https://securetoken.google.com/${chat.project}` })],
  ['an App Check token in its place', () => chat.keys.sign(appCheckClaims('1234567890'))],
  [
    'the issuer of Google on the ID token of a user',
    () =>
      chat.keys.sign(idTokenClaims(chat.project, 'alice', { iss: 'https://accounts.google.com' })),
  ],
];

test.each(forged)('S23: a token of a server with %s acts for nobody', async (_, make) => {
  const token = await make();

  const error = await errorOf(await chat.call('/v1/conversations', { token, headers: forAlice }));

  expectClean(error);
  expect(error).toMatchObject({ http: 401, reason: 'ID_TOKEN_INVALID' });
  expect(error.text).not.toContain(token.slice(0, 40));
});

test('S23: a token of a server that has expired acts for nobody', async () => {
  const token = await signed({ exp: nowSeconds() - 60 });

  const error = await errorOf(await chat.call('/v1/conversations', { token, headers: forAlice }));

  expect(error).toMatchObject({ http: 401, reason: 'ID_TOKEN_EXPIRED' });
});

test.each([
  STRANGER,
  ACCOUNT.toUpperCase(),
  `${ACCOUNT}.evil.example`,
  `${ACCOUNT},${STRANGER}`,
  '',
])('S23: the service account %j, which is not listed, is told so and logged', async (email) => {
  const token = await signed({ email });

  const error = await errorOf(await chat.call('/v1/conversations', { token, headers: forAlice }));

  expect(error).toMatchObject({ http: 403, reason: 'ON_BEHALF_OF_DENIED' });
  expect(error.message).toContain('ADMIN_SERVICE_ACCOUNTS');
  expect(lastLine()?.fields).toMatchObject({
    account: email,
    status: 403,
    reason: 'ON_BEHALF_OF_DENIED',
  });
});

test('S23: no service account acts for a user unless the deployment lists one, and no keys are fetched for it', async () => {
  const closed = await startChatServer();
  onTestFinished(() => closed.stop());
  const token = await closed.keys.sign(claims());

  const error = await errorOf(await closed.call('/v1/conversations', { token, headers: forAlice }));

  expect(error).toMatchObject({ http: 403, reason: 'ON_BEHALF_OF_DENIED' });
  expect(closed.keys.fetches()).toBe(0);
});

test('S23: a person’s token of Google, sent by mistake in place of Firebase’s, is told how to sign in', async () => {
  const closed = await startChatServer();
  onTestFinished(() => closed.stop());
  const ofPerson = { aud: '1234-abc.apps.googleusercontent.com', email: 'ada@gmail.com' };

  for (const server of [chat, closed]) {
    const token = await server.keys.sign(claims(ofPerson));
    const error = await errorOf(await server.call('/v1/conversations', { token }));

    expect(error).toMatchObject({ http: 401, reason: 'ID_TOKEN_INVALID' });
    expect(error.message).toContain(`Sign in to the Firebase project \`${server.project}\``);
  }
});

const routes = (await loadRoutes())
  .filter(({ access }) => access === 'user')
  .flatMap(({ method, path, aliases = [] }) => [path, ...aliases].map((each) => [method, each]));

const addressOf = (path: string) => path.replaceAll(/\{(\w+)\}/g, () => randomUUID());

test.each(routes)(
  'S23: a user’s %s %s in the name of another is refused before its body is read',
  async (method, path) => {
    const body = method === 'GET' ? {} : { body: '{"nobody":"reads this"' };

    const response = await chat.call(addressOf(path), {
      method,
      ...body,
      uid: 'mallory',
      headers: forAlice,
    });

    const text = await response.text();
    expect(response.status).toBe(403);
    expect(text).toContain('X-Recap-On-Behalf-Of');
    expect(lastLine()).toMatchObject({
      fields: { status: 403, reason: 'ON_BEHALF_OF_DENIED', uidHash: expect.any(String) },
    });
  },
);

test('S23: a user who names themselves is refused as well', async () => {
  const error = await errorOf(await chat.call('/v1/conversations', { headers: forAlice }));

  expect(error).toMatchObject({ http: 403, reason: 'ON_BEHALF_OF_DENIED' });
  expect(error.message).toContain('Leave it out');
});

test('S23: a user’s message that names another in its body is refused, and nothing is stored', async () => {
  const id = randomUUID();
  const message = { id: randomUUID(), parts: [{ type: 'text', text: 'Hi' }] };

  const error = await errorOf(
    await chat.call(`/v1/conversations/${id}/messages`, {
      uid: 'mallory',
      body: { onBehalfOf: 'alice', message },
    }),
  );

  expect(error).toMatchObject({ http: 403, reason: 'ON_BEHALF_OF_DENIED' });
  expect(error.message).toContain('`onBehalfOf`');
  for (const uid of ['alice', 'mallory'])
    expect((await chat.call(`/v1/conversations/${id}`, { uid })).status).toBe(404);
});

test.each([
  ['nobody', {}],
  ['an empty user', { [HEADER]: '' }],
  ['129 characters', { [HEADER]: 'x'.repeat(129) }],
  ['half of an escape', { [HEADER]: 'a%2' }],
  ['an escape of half a character', { [HEADER]: '%ED%A0%80' }],
  ['a character that is not escaped', { [HEADER]: 'ren\u00E9' }],
  ['two users', { [HEADER]: 'alice, bob' }],
])('S23: a server that names %s is told what to send', async (_, headers) => {
  const token = await signed();

  const error = await errorOf(await chat.call('/v1/conversations', { token, headers }));

  expectClean(error);
  expect(error).toMatchObject({
    http: 400,
    reason: 'BAD_FIELD',
    metadata: { field: 'X-Recap-On-Behalf-Of' },
  });
  expect(error.message).toContain('encodeURIComponent');
  expect(lastLine()?.fields).toMatchObject({ account: ACCOUNT, status: 400 });
});

test.each([
  ['the same user', 'alice'],
  ['another user', 'bob'],
  ['an empty text', ''],
  ['a list', ['alice']],
  ['a long text', 'x'.repeat(100_000)],
  ['null', null],
])('S23: a body of a server that names %s is referred to the header', async (_, onBehalfOf) => {
  const token = await signed();
  const message = { id: randomUUID(), parts: [{ type: 'text', text: 'Hi' }] };

  const error = await errorOf(
    await chat.call(`/v1/conversations/${randomUUID()}/messages`, {
      token,
      headers: forAlice,
      body: { onBehalfOf, message },
    }),
  );

  expect(error).toMatchObject({
    http: 400,
    reason: 'BAD_FIELD',
    metadata: { field: 'onBehalfOf' },
  });
  expect(error.message).toContain('X-Recap-On-Behalf-Of');
});

test('S23: a server reaches what belongs to the user that it names, and nothing of others', async () => {
  const { id } = await createConversation(chat, { uid: 'alice' });
  const token = await signed();
  const asks = async (uid: string) =>
    (await chat.call(`/v1/conversations/${id}`, { token, headers: { [HEADER]: uid } })).status;

  expect([await asks('alice'), await asks('bob'), await asks(ACCOUNT)]).toEqual([200, 404, 404]);
});
