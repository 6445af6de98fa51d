import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { encodePageToken } from '#shared/wire/page-token.ts';
import { conversationListResponse } from '#shared/wire/resources/conversations.ts';
import { messageListResponse } from '#shared/wire/resources/messages.ts';
import { errorOf, startChatServer } from '../support/chat/chat-server.ts';
import { createConversation, readAs } from '../support/chat/http-answers.ts';
import { sha256 } from '../support/sha256.ts';

const chat = await startChatServer();
afterAll(() => chat.stop());

const newUser = () => `user-${randomUUID()}`;

const send = (conversationId: string, uid: string) =>
  chat.call(`/v1/conversations/${conversationId}/messages`, {
    uid,
    body: { message: { id: randomUUID(), parts: [{ type: 'text', text: 'q' }] } },
  });

/** A conversation of two turns, and the token of the second page of its messages. */
async function pagedConversation(uid: string, query = 'pageSize=2') {
  const { id } = await createConversation(chat, { uid });
  await send(id, uid);
  await send(id, uid);
  const response = await chat.call(`/v1/conversations/${id}/messages?${query}`, { uid });
  const { nextPageToken = '' } = await readAs(messageListResponse, response);
  expect(nextPageToken).not.toBe('');
  return { id, token: nextPageToken };
}

const messages = (uid: string, id: string, query: string) =>
  chat.call(`/v1/conversations/${id}/messages?${query}`, { uid });

const REFUSED = '400 PAGE_TOKEN_INVALID';

const refusalOf = async (response: Response) => {
  const { http, reason } = await errorOf(response);
  return `${http} ${reason}`;
};

describe('a page token', () => {
  test('a page token continues where the page ended, also with another page size', async () => {
    const uid = newUser();
    const { id, token } = await pagedConversation(uid);

    const response = await messages(uid, id, `pageSize=50&pageToken=${token}`);

    const { messages: shown } = await readAs(messageListResponse, response);
    expect(shown.map(({ role, seq }) => `${role}${seq}`)).toEqual(['user2', 'model2']);
  });

  test('a page token shortened by a character or by half is refused', async () => {
    const uid = newUser();
    const { id, token } = await pagedConversation(uid);

    for (const cut of [token.slice(0, -1), token.slice(0, token.length / 2), 'x'])
      expect(await refusalOf(await messages(uid, id, `pageToken=${cut}`))).toBe(REFUSED);
  });

  test('a page token of an impossible place is refused', async () => {
    const uid = newUser();
    const { id } = await pagedConversation(uid);
    const scope = { uid, list: `messages/${id}`, parameters: { order: 'asc', afterSeq: 0 } };

    const places: Record<string, string | number>[] = [
      { p: -3 },
      { p: 1.5 },
      { p: 3, ownerUid: 'bob' },
    ];
    for (const place of places)
      expect(
        await refusalOf(
          await messages(uid, id, `pageToken=${encodePageToken(sha256, scope, place)}`),
        ),
      ).toBe(REFUSED);
  });

  test.each([
    ['another order', 'pageSize=2&order=desc'],
    ['another afterSeq', 'pageSize=2&afterSeq=1'],
  ])('a page token is refused with %s', async (_, query) => {
    const uid = newUser();
    const { id, token } = await pagedConversation(uid);

    expect(await refusalOf(await messages(uid, id, `${query}&pageToken=${token}`))).toBe(REFUSED);
  });

  test('a page token of the same user’s other conversation is refused', async () => {
    const uid = newUser();
    const [one, two] = [await pagedConversation(uid), await pagedConversation(uid)];

    expect(await refusalOf(await messages(uid, two.id, `pageToken=${one.token}`))).toBe(REFUSED);
  });

  test('a page token of the same conversation’s other list is refused', async () => {
    const uid = newUser();
    const { id, token } = await pagedConversation(uid);

    for (const path of [
      `/v1/conversations?pageToken=${token}`,
      `/v1/conversations/${id}/compactions?pageToken=${token}`,
      `/v1/conversations/${id}:search?q=q&pageToken=${token}`,
    ])
      expect(await refusalOf(await chat.call(path, { uid }))).toBe(REFUSED);
  });

  test('a page token of another user is refused and reveals nothing', async () => {
    const [owner, other] = [newUser(), newUser()];
    for (let i = 0; i < 2; i++) {
      await createConversation(chat, { uid: owner });
      await createConversation(chat, { uid: other });
    }
    const first = await chat.call('/v1/conversations?pageSize=1', { uid: owner });
    const { nextPageToken } = await readAs(conversationListResponse, first);

    const path = `/v1/conversations?pageSize=1&pageToken=${nextPageToken}`;

    expect((await chat.call(path, { uid: owner })).status).toBe(200);
    expect(await refusalOf(await chat.call(path, { uid: other }))).toBe(REFUSED);
  });

  test('a page token of a list with deleted conversations is refused without them', async () => {
    const uid = newUser();
    await createConversation(chat, { uid });
    await createConversation(chat, { uid });
    const first = await chat.call('/v1/conversations?pageSize=1&showDeleted=true', { uid });
    const { nextPageToken } = await readAs(conversationListResponse, first);

    expect(
      await refusalOf(await chat.call(`/v1/conversations?pageToken=${nextPageToken}`, { uid })),
    ).toBe(REFUSED);
  });
});
