import { compactionRecordResponse } from '#shared/wire/resources/compaction.ts';
import {
  conversationListResponse,
  conversationResponse,
  erasingResponse,
} from '#shared/wire/resources/conversations.ts';
import { errorOf, startChatServer, readAs } from '#test/support/chat/chat-server.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';

const chat = await startChatServer();
afterAll(() => chat.stop());

/** A conversation of alice with one answered message. */
async function conversation(uid = 'alice') {
  const id = randomUUID();
  const messageId = randomUUID();
  const response = await chat.call(`/v1/conversations/${id}/messages`, {
    uid,
    body: { message: { id: messageId, parts: [{ type: 'text', text: 'Hello.' }] } },
  });
  expect(response.status).toBe(200);
  return { id, messageId, path: `/v1/conversations/${id}` };
}

describe('the routes of restoring, deleting and forking', () => {
  test('restoring over HTTP answers with its record', async () => {
    const { path, messageId } = await conversation();
    await chat.call(`${path}/messages/${messageId}`, { method: 'DELETE' });

    const response = await chat.call(`${path}:restore`, { body: { generation: 0 } });

    const record = await readAs(compactionRecordResponse, response);
    expect(record).toMatchObject({ generation: 2, state: 'RESTORED', restoredFrom: 0 });
  });

  test('a conversation is deleted over HTTP and recovered', async () => {
    const { id, path } = await conversation();

    const deleted = await readAs(conversationResponse, await chat.call(path, { method: 'DELETE' }));
    const gone = await chat.call(path);
    const back = await readAs(
      conversationResponse,
      await chat.call(`${path}:undelete`, { method: 'POST' }),
    );

    expect(deleted.purgeTime).toBeDefined();
    expect(gone.status).toBe(404);
    expect(back).toMatchObject({ id });
    expect(back.deleteTime).toBeUndefined();
    expect((await chat.call(path)).status).toBe(200);
  });

  test('a message to one’s own conversation in the bin is refused with the way to take it back', async () => {
    const { path } = await conversation();
    await chat.call(path, { method: 'DELETE' });
    const body = { message: { id: randomUUID(), parts: [{ type: 'text', text: 'Hi' }] } };

    const own = await errorOf(await chat.call(`${path}/messages`, { body }));
    const other = await errorOf(await chat.call(`${path}/messages`, { body, uid: 'mallory' }));

    expect(own).toMatchObject({ http: 404, reason: 'CONVERSATION_NOT_FOUND' });
    expect(own.message).toContain(':undelete');
    expect(other).toMatchObject({ http: 404, reason: 'CONVERSATION_NOT_FOUND' });
    expect(other.message).not.toContain(':undelete');
  });

  test('the HTTP list leaves out deleted conversations', async () => {
    const uid = randomUUID();
    const { path } = await conversation(uid);
    await chat.call(path, { method: 'DELETE', uid });

    const response = await chat.call('/v1/conversations', { uid });

    expect(await response.json()).toEqual({ conversations: [] });
  });

  test.each([1, 2, 30])(
    'the HTTP list includes a deleted conversation in order on request, %i a page',
    async (pageSize) => {
      const uid = randomUUID();
      const made = [await conversation(uid), await conversation(uid), await conversation(uid)];
      await chat.call(made[1]?.path ?? '', { method: 'DELETE', uid });

      const seen: string[] = [];
      let token: string | undefined;
      do {
        const query = `?showDeleted=true&pageSize=${pageSize}${token ? `&pageToken=${token}` : ''}`;
        const response = await chat.call(`/v1/conversations${query}`, { uid });
        const page = await readAs(conversationListResponse, response);
        seen.push(...page.conversations.map(({ id }) => id));
        token = page.nextPageToken;
      } while (token !== undefined);

      expect(seen).toEqual([made[1]?.id, made[2]?.id, made[0]?.id]);
    },
  );

  test('a conversation is erased at once over HTTP on request', async () => {
    const { path } = await conversation();

    const response = await chat.call(`${path}?permanent=true`, { method: 'DELETE' });

    expect(response.status).toBe(202);
    expect(await readAs(erasingResponse, response)).toEqual({ conversations: 1 });
    expect((await chat.call(`${path}:undelete`, { method: 'POST' })).status).toBe(404);
  });

  test('a conversation is forked over HTTP', async () => {
    const { id, path, messageId } = await conversation();
    const forkId = randomUUID();

    const response = await chat.call(`${path}:fork`, { body: { messageId, id: forkId } });
    const again = await chat.call(`${path}:fork`, { body: { messageId, id: forkId } });

    const fork = await readAs(conversationResponse, response);
    expect(response.status).toBe(201);
    expect(response.headers.get('location')).toBe(`/v1/conversations/${forkId}`);
    expect(fork).toMatchObject({ id: forkId, forkedFrom: { conversationId: id, seq: 1 } });
    expect(again.status).toBe(200);
  });

  test.each([
    [{}, '`messageId` is missing: it must be a message id'],
    [{ messageId: 'x' }, '`messageId`: must be a message id'],
  ])('forking over HTTP names what is wrong with the message: %j', async (body, text) => {
    const { path } = await conversation();

    const error = await errorOf(await chat.call(`${path}:fork`, { body }));

    expect(error).toMatchObject({ http: 400, reason: 'BAD_FIELD' });
    expect(error.message).toContain(text);
  });

  test('deleting a conversation refuses a body with content', async () => {
    const { path } = await conversation();

    const response = await chat.call(path, { method: 'DELETE', body: { now: true } });

    expect(await errorOf(response)).toMatchObject({ http: 400, reason: 'BAD_FIELD' });
  });
});
