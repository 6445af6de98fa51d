import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { conversationListResponse } from '#shared/wire/resources/conversations.ts';
import { startChatServer } from '#test/support/chat/chat-server.ts';
import { createConversation, readAs } from '#test/support/chat/http-answers.ts';

const chat = await startChatServer();
afterAll(() => chat.stop());

const create = (uid: string) => createConversation(chat, { uid });

const list = async (uid: string, query: string) =>
  readAs(conversationListResponse, await chat.call(`/v1/conversations${query}`, { uid }));

test('the conversation list has the caller’s own, newest update first, page by page', async () => {
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
