import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { parseConfig } from '#functions/config.ts';
import { serveForTest, type CallOptions } from '#test/support/chat/chat-server.ts';
import { sha256 } from '#test/support/signing.ts';
import { serverClaims } from '#test/support/token-keys.ts';

/* What a server of the app does for a user, over HTTP. */

const AUDIENCE = 'https://chat.example.com';
const ACCOUNT = 'backend@my-app.iam.gserviceaccount.com';

async function startWithServer(environment: Record<string, string> = {}) {
  const chat = await serveForTest({
    environment: {
      ADMIN_SERVICE_ACCOUNTS: `other@my-app.iam.gserviceaccount.com, ${ACCOUNT}`,
      ADMIN_AUDIENCE: AUDIENCE,
      ...environment,
    },
  });
  const token = await chat.keys.sign(serverClaims(AUDIENCE, ACCOUNT));
  const act = (uid: string, path: string, options: CallOptions = {}) =>
    chat.call(path, {
      ...options,
      token,
      headers: { ...options.headers, 'x-recap-on-behalf-of': encodeURIComponent(uid) },
    });
  return { chat, act };
}

const messageOf = (text: string) => ({
  message: { id: randomUUID(), parts: [{ type: 'text', text }] },
});

describe('a server that acts for a user', () => {
  test('a server sends, reads, changes and deletes for a user, who finds all of it as their own', async () => {
    const { chat, act } = await startWithServer();
    const path = `/v1/conversations/${randomUUID()}`;

    const sent = await act('alice', `${path}/messages`, { body: messageOf('Your order left.') });
    const renamed = await act('alice', path, { method: 'PATCH', body: { title: 'Order 4711' } });
    const listed = await act('alice', '/v1/conversations');

    expect([sent.status, renamed.status, listed.status]).toEqual([200, 200, 200]);
    const own = await chat.call(`${path}/messages`, { uid: 'alice' });
    expect(JSON.stringify(await own.json())).toContain('Your order left.');
    expect(JSON.stringify(await listed.json())).toContain('Order 4711');
    expect((await act('alice', path, { method: 'DELETE' })).status).toBe(200);
    expect((await chat.call(path, { uid: 'alice' })).status).toBe(404);
  });

  test('a server names a user whose id is in any script', async () => {
    const { chat, act } = await startWithServer();
    const uid = 'réné, 김 %20';
    const path = `/v1/conversations/${randomUUID()}`;

    await act(uid, `${path}/messages`, { body: messageOf('Hello') });

    expect((await chat.call(path, { uid })).status).toBe(200);
  });

  test('a call for a user is one line that says which account, for whom, what, and how it ended', async () => {
    const { chat, act } = await startWithServer();
    const id = randomUUID();

    await act('alice', `/v1/conversations/${id}/messages`, { body: messageOf('Hello') });
    await act('alice', `/v1/conversations/${randomUUID()}/turns/t_9`);
    await chat.call('/v1/conversations', { uid: 'alice' });

    const requests = chat.logs.filter(({ event }) => event === 'request');
    const uidHash = sha256('alice').slice(0, 16);
    expect(requests.map(({ fields }) => fields)).toMatchObject([
      { account: ACCOUNT, uidHash, operation: 'sendMessage', conversationId: id, status: 200 },
      { account: ACCOUNT, uidHash, operation: 'getTurn', status: 404 },
      { uidHash, operation: 'listConversations', status: 200 },
    ]);
    expect(requests[2]?.fields).not.toHaveProperty('account');
    expect(JSON.stringify(chat.logs)).not.toContain('"alice"');
  });

  test('a server needs neither an App Check token nor a sign-in of the user, which are asked of users', async () => {
    const { chat, act } = await startWithServer({
      APP_CHECK: 'once',
      APP_CHECK_PROJECT_NUMBER: '123456789012',
      CHECK_REVOKED: 'always',
    });

    const server = await act('alice', '/v1/users/me:erase', { method: 'POST' });
    const user = await chat.call('/v1/users/me:erase', { method: 'POST', uid: 'alice' });

    expect([server.status, user.status]).toEqual([202, 401]);
  });
});

test.each([
  ['ADMIN_AUDIENCE', { ADMIN_SERVICE_ACCOUNTS: ACCOUNT }],
  ['ADMIN_SERVICE_ACCOUNTS', { ADMIN_SERVICE_ACCOUNTS: 'me@gmail.com', ADMIN_AUDIENCE: AUDIENCE }],
  ['ADMIN_SERVICE_ACCOUNTS', { ADMIN_SERVICE_ACCOUNTS: '*', ADMIN_AUDIENCE: AUDIENCE }],
])('the configuration of servers names %s where %o is invalid', (variable, environment) => {
  const parse = () => parseConfig({ GOOGLE_CLOUD_PROJECT: 'my-project', ...environment });

  expect(parse).toThrow(new RegExp(`${variable}(\\.0)?: `));
});
