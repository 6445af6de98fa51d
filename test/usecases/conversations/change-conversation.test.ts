import { afterAll, describe, expect, test } from 'vitest';
import { conversationResponse } from '#shared/wire/resources/conversations.ts';
import { errorOf, startChatServer } from '#test/support/chat/chat-server.ts';
import { createConversation, readAs } from '#test/support/chat/http-answers.ts';

const chat = await startChatServer({ environment: { THRESHOLD_TOKENS: '20000' } });
afterAll(() => chat.stop());

const create = (body: object = {}) => createConversation(chat, { body });

const patch = (id: string, body: object, more: { mask?: string; etag?: string } = {}) =>
  chat.call(`/v1/conversations/${id}${more.mask === undefined ? '' : `?updateMask=${more.mask}`}`, {
    method: 'PATCH',
    body,
    ...(more.etag !== undefined && { headers: { 'if-match': more.etag } }),
  });

describe('changing a conversation', () => {
  test('changing a conversation without a field mask writes what the body has', async () => {
    const { id } = await create({ title: 'one', metadata: { a: '1' } });

    const changed = await readAs(conversationResponse, await patch(id, { title: 'two' }));

    expect(changed).toMatchObject({ title: 'two', metadata: { a: '1' } });
  });

  test('changing a conversation with a field mask writes exactly the named fields', async () => {
    const settings = { thresholdTokens: 9_000, thresholdFraction: 0.01 };
    const { id } = await create({ title: 'one', metadata: { a: '1' }, settings });

    const response = await patch(
      id,
      { title: 'ignored', settings: { thresholdTokens: 8_000 } },
      { mask: 'metadata,settings' },
    );

    const changed = await readAs(conversationResponse, response);
    expect(changed).toMatchObject({ title: 'one', metadata: {} });
    expect(changed.settings).toEqual({ thresholdTokens: 8_000 });
  });

  test('changing a conversation by metadata.KEY leaves the entries of others', async () => {
    const { id } = await create({ metadata: { a: '1', b: '2', c: '3' } });

    const response = await patch(
      id,
      { metadata: { a: '9', d: '4', e: 'not named' } },
      { mask: 'metadata.a,%20metadata.b,metadata.d,title' },
    );

    const changed = await readAs(conversationResponse, response);
    expect(changed.metadata).toEqual({ a: '9', c: '3', d: '4' });
    const all = await patch(id, { metadata: { z: '1' } }, { mask: 'metadata,metadata.a' });
    expect((await readAs(conversationResponse, all)).metadata).toEqual({ z: '1' });
  });

  test('changing a conversation by metadata.KEY keeps to the bound of entries', async () => {
    const entries = Array.from({ length: 32 }, (_, i) => [`k${i}`, 'x'] as const);
    const { id } = await create({ metadata: Object.fromEntries(entries) });

    const error = await errorOf(
      await patch(id, { metadata: { more: 'x' } }, { mask: 'metadata.more' }),
    );

    expect(error).toMatchObject({
      http: 400,
      reason: 'BAD_FIELD',
      metadata: { field: 'metadata' },
    });
    expect(error.message).toContain('33 entries');
  });

  test('changing a conversation can remove the title', async () => {
    const { id } = await create({ title: 'one' });

    await patch(id, {}, { mask: 'title' });

    const read = await (await chat.call(`/v1/conversations/${id}`)).json();
    expect(read).not.toHaveProperty('title');
  });

  test.each([
    ['an unknown field in the mask', { title: 'x' }, 'title,ownerUid', 'BAD_FIELD'],
    ['a metadata key that may not be', {}, 'metadata.__proto__', 'BAD_FIELD'],
    ['a metadata key of several steps', {}, 'metadata.a.b', 'BAD_FIELD'],
    ['an unknown field in the body', { ownerUid: 'x' }, undefined, 'BAD_FIELD'],
    ['a field of the deployment in the mask alone', {}, 'model', 'FIELD_NOT_WRITABLE'],
    [
      'a threshold that is too high',
      { settings: { thresholdTokens: 20_001 } },
      undefined,
      'THRESHOLD_TOO_HIGH',
    ],
  ])('changing a conversation with %s is refused', async (...[, body, mask, reason]) => {
    const { id } = await create();

    const response = await patch(id, body, mask === undefined ? {} : { mask });

    expect(await errorOf(response)).toMatchObject({ http: 400, reason });
  });

  test('changing a conversation is refused with 412 when its ETag is outdated', async () => {
    const { id } = await create();
    const etag = (await chat.call(`/v1/conversations/${id}`)).headers.get('etag') ?? '';

    const first = await patch(id, { title: 'one' }, { etag });
    const second = await patch(id, { title: 'two' }, { etag });

    expect(first.status).toBe(200);
    expect(await errorOf(second)).toMatchObject({ http: 412, reason: 'ETAG_MISMATCH' });
  });

  test('ten simultaneous changes of a conversation lose none', async () => {
    const { id } = await create();
    const responses = await Promise.all([
      ...Array.from({ length: 5 }, () => patch(id, { title: 'x' })),
      ...Array.from({ length: 5 }, () => patch(id, { metadata: { a: '1' } })),
    ]);

    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    const read = await (await chat.call(`/v1/conversations/${id}`)).json();
    expect(read).toMatchObject({ title: 'x', metadata: { a: '1' } });
  });
});
