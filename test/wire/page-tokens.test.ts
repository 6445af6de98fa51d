import { encodePageToken } from '#shared/store/page-token.ts';
import { conversationListResponse } from '#shared/wire/resources/inbox.ts';
import { messageListResponse } from '#shared/wire/resources/messages.ts';
import {
  errorOf,
  startChatServer,
  createConversation,
  readAs,
} from '#test/support/chat/chat-server.ts';
import { sha256 } from '#test/support/signing.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';

const chat = await startChatServer();
afterAll(() => chat.stop());

/** A user with two conversations, one of two turns, and the tokens of second pages. */
async function pagedUser() {
  const uid = `user-${randomUUID()}`;
  const [{ id }, other] = [
    await createConversation(chat, { uid }),
    await createConversation(chat, { uid }),
  ];
  const path = `/v1/conversations/${id}`;
  for (const text of ['one', 'two'])
    await chat.call(`${path}/messages`, {
      uid,
      body: { message: { id: randomUUID(), parts: [{ type: 'text', text }] } },
    });
  const first = await chat.call(`${path}/messages?pageSize=2`, { uid });
  const { nextPageToken: token = '' } = await readAs(messageListResponse, first);
  const list = await chat.call('/v1/conversations?pageSize=1', { uid });
  const { nextPageToken: listToken = '' } = await readAs(conversationListResponse, list);
  return {
    uid,
    id,
    path,
    otherPath: `/v1/conversations/${other.id}`,
    token,
    listToken,
  };
}

type Paged = Awaited<ReturnType<typeof pagedUser>>;

test('a page token continues where the page ended, also with another page size', async () => {
  const { uid, path, token } = await pagedUser();

  const response = await chat.call(`${path}/messages?pageSize=50&pageToken=${token}`, { uid });

  const { messages } = await readAs(messageListResponse, response);
  expect(messages.map(({ role, seq }) => `${role}${seq}`)).toEqual(['user2', 'model2']);
});

const tokenOf = ({ uid, id }: Paged, place: Record<string, string | number>) => {
  const scope = { uid, list: `messages/${id}`, parameters: { order: 'asc', afterSeq: 0 } };
  return encodePageToken(sha256, scope, place);
};

test.each<[what: string, address: (user: Paged) => string, asAnother?: boolean]>([
  [
    'without its last character',
    ({ path, token }) => `${path}/messages?pageToken=${token.slice(0, -1)}`,
  ],
  [
    'of a place that no list has',
    (user) => `${user.path}/messages?pageToken=${tokenOf(user, { p: -3 })}`,
  ],
  [
    'with a field more',
    (user) => `${user.path}/messages?pageToken=${tokenOf(user, { p: 3, ownerUid: 'bob' })}`,
  ],
  ['in another order', ({ path, token }) => `${path}/messages?order=desc&pageToken=${token}`],
  [
    'of a list that begins elsewhere',
    ({ path, token }) => `${path}/messages?afterSeq=1&pageToken=${token}`,
  ],
  ['around another turn', ({ path, token }) => `${path}/messages?around=2&pageToken=${token}`],
  ['of another conversation', ({ otherPath, token }) => `${otherPath}/messages?pageToken=${token}`],
  [
    'of messages in the list of compactions',
    ({ path, token }) => `${path}/compactions?pageToken=${token}`,
  ],
  [
    'of the list in that of the archived ones',
    ({ listToken }) => `/v1/conversations?list=archived&pageToken=${listToken}`,
  ],
  [
    'of another user',
    ({ listToken }) => `/v1/conversations?pageSize=1&pageToken=${listToken}`,
    true,
  ],
])('a page token %s is refused', async (...[, addressOf, asAnother = false]) => {
  const user = await pagedUser();

  const response = await chat.call(addressOf(user), { uid: asAnother ? 'mallory' : user.uid });

  expect(await errorOf(response)).toMatchObject({ http: 400, reason: 'PAGE_TOKEN_INVALID' });
});
