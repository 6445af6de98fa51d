import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodePageToken } from '../../shared/wire/page-token.ts';
import { conversationListResponse } from '../../shared/wire/responses/conversations.ts';
import { errorOf, startChatServer, type ChatServer } from '../support/chat-server.ts';
import { createConversation, readAs } from '../support/http-answers.ts';

let chat: ChatServer;
beforeAll(async () => {
  chat = await startChatServer();
});
afterAll(() => chat.stop());

const create = (uid: string) => createConversation(chat, { uid });

describe('the list of conversations', () => {
  const list = async (uid: string, query: string) =>
    readAs(conversationListResponse, await chat.call(`/v1/conversations${query}`, { uid }));

  test('gives the caller’s own, newest update first, page by page', async () => {
    const uid = `user-${randomUUID()}`;
    const created: string[] = [];
    for (let i = 0; i < 5; i++) created.push((await create(uid)).id);
    await create('somebody else');

    const seen: string[] = [];
    let token: string | undefined;
    do {
      const query = `?pageSize=2${token === undefined ? '' : `&pageToken=${token}`}`;
      const page = await list(uid, query);
      seen.push(...page.conversations.map(({ id }) => id));
      token = page.nextPageToken;
    } while (token !== undefined);

    expect(seen.toSorted()).toEqual(created.toSorted());
    expect(seen).toHaveLength(5);
  });

  test('shows nothing of others to a forged page token', async () => {
    const [uid, victim] = [`user-${randomUUID()}`, `user-${randomUUID()}`];
    const secret = await create(victim);
    await create(uid);
    const forged = [
      encodePageToken({ t: Date.now() + 1e9, id: secret.id }),
      encodePageToken({ t: 0, id: secret.id }),
    ];

    for (const token of forged) {
      const page = await list(uid, `?pageToken=${token}`);
      expect(page.conversations.map(({ id }) => id)).not.toContain(secret.id);
    }
  });

  test.each([
    ['no base64', '%25%25'],
    ['no JSON', btoa('x')],
    ['a path for an id', encodePageToken({ t: 1, id: '../users/bob' })],
    ['a further field', encodePageToken({ t: 1, id: randomUUID(), ownerUid: 'bob' })],
    ['a time that is none', encodePageToken({ t: 1e300, id: randomUUID() })],
  ])('refuses a page token with %s', async (_, token) => {
    const response = await chat.call(`/v1/conversations?pageToken=${token}`);

    expect(await errorOf(response)).toMatchObject({ http: 400, reason: 'PAGE_TOKEN_INVALID' });
  });
});
