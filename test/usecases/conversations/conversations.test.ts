import {
  conversationResponse,
  conversationWithContextResponse,
} from '#shared/wire/resources/conversations.ts';
import { conversationListResponse } from '#shared/wire/resources/inbox.ts';
import {
  errorOf,
  startChatServer,
  createConversation,
  readAs,
} from '#test/support/chat/chat-server.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';

const chat = await startChatServer({ environment: { THRESHOLD_TOKENS: '20000' } });
const openChat = await startChatServer({
  environment: {
    THRESHOLD_TOKENS: '20000',
    CLIENT_WRITABLE: 'model,profile,systemInstruction,windowTokens,compaction,onBusy',
  },
});
afterAll(() => Promise.all([chat.stop(), openChat.stop()]));

describe('creating a conversation', () => {
  test('creating a conversation takes what the caller may write and the deployment’s defaults', async () => {
    const id = randomUUID();
    const fields = {
      title: 'Trip',
      metadata: { topic: 'Jeju' },
      settings: { thresholdTokens: 9_000 },
    };

    const response = await chat.call('/v1/conversations', { body: { id, ...fields } });

    expect(response.status).toBe(201);
    expect(response.headers.get('location')).toBe(`/v1/conversations/${id}`);
    const conversation = await readAs(conversationResponse, response);
    expect(conversation).toMatchObject({ id, ...fields, model: chat.dependencies.config.MODEL });
  });

  test('creating a conversation 20 times at once with one id makes one', async () => {
    const id = randomUUID();

    const responses = await Promise.all(
      Array.from({ length: 20 }, () => chat.call('/v1/conversations', { body: { id } })),
    );

    const statuses = responses.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([...Array.from({ length: 19 }, () => 200), 201]);
  });

  test.each([
    ['model', { model: 'gemini-2.5-pro' }],
    ['profile', { profile: 'coding' }],
    ['settings.compaction', { settings: { compaction: 'off' } }],
  ])(
    'creating a conversation with %s is refused unless the deployment allows it',
    async (field, body) => {
      const closed = await errorOf(await chat.call('/v1/conversations', { body }));
      const open = await openChat.call('/v1/conversations', { body });

      expect(closed).toMatchObject({
        http: 400,
        reason: 'FIELD_NOT_WRITABLE',
        metadata: { field },
      });
      expect(closed.message).toContain('CLIENT_WRITABLE');
      expect(open.status).toBe(201);
    },
  );

  test('an instruction that leaves less than half of the window is refused, now or later', async () => {
    const systemInstruction = 'Be kind. '.repeat(500);
    const createWith = (settings: object) =>
      openChat.call('/v1/conversations', { body: { systemInstruction, settings } });
    const roomy = await createWith({ windowTokens: 10_000 });
    const { id } = conversationResponse.parse(await roomy.json());

    const refused = [
      await createWith({ windowTokens: 1_000 }),
      await openChat.call(`/v1/conversations/${id}`, {
        method: 'PATCH',
        body: { settings: { windowTokens: 1_000 } },
      }),
    ];

    for (const response of refused)
      expect(await errorOf(response)).toMatchObject({ http: 400, reason: 'OVERHEAD_TOO_LARGE' });
  });

  test.each([
    ['999 tokens', { thresholdTokens: 999 }, 'BAD_FIELD'],
    ['a fraction of fewer than 1,000 tokens', { thresholdFraction: 0.0009 }, 'THRESHOLD_TOO_LOW'],
  ])('a threshold of %s is refused: each message would buy a compaction', async (...row) => {
    const [, settings, reason] = row;

    const error = await errorOf(await chat.call('/v1/conversations', { body: { settings } }));

    expect(error).toMatchObject({ http: 400, reason });
    expect(error.message).toContain('1000');
  });

  test.each([
    ['tokens above', { thresholdTokens: 20_001 }],
    ['the fraction that means never, against', { thresholdFraction: 1 }],
  ])('a threshold of %s the deployment’s is refused', async (_, settings) => {
    const error = await errorOf(await chat.call('/v1/conversations', { body: { settings } }));

    expect(error).toMatchObject({ http: 400, reason: 'THRESHOLD_TOO_HIGH' });
    expect(error.message).toContain('20000');
  });
});

test('a conversation shows its context object and an ETag', async () => {
  const { id } = await createConversation(chat);

  const response = await chat.call(`/v1/conversations/${id}`);

  expect(response.headers.get('etag')).toMatch(/^"[0-9a-f]{24}-[0-9a-f]{24}"$/);
  const conversation = await readAs(conversationWithContextResponse, response);
  expect(conversation.context).toMatchObject({ tokens: 0, generation: 0, compaction: null });
});

const createWith = (body: object = {}) => createConversation(chat, { body });

const patch = (id: string, body: object, more: { mask?: string; etag?: string } = {}) =>
  chat.call(`/v1/conversations/${id}${more.mask === undefined ? '' : `?updateMask=${more.mask}`}`, {
    method: 'PATCH',
    body,
    ...(more.etag !== undefined && { headers: { 'if-match': more.etag } }),
  });

test('changing a conversation with a field mask writes exactly the named fields', async () => {
  const settings = { thresholdTokens: 9_000, thresholdFraction: 0.01 };
  const { id } = await createWith({ title: 'one', metadata: { a: '1' }, settings });

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
  const { id } = await createWith({ metadata: { a: '1', b: '2', c: '3' } });

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

test.each([
  ['an unknown field in the mask', { title: 'x' }, 'title,ownerUid', 'BAD_FIELD'],
  ['a metadata key that may not be', {}, 'metadata.__proto__', 'BAD_FIELD'],
  ['a field of the deployment in the mask alone', {}, 'model', 'FIELD_NOT_WRITABLE'],
  [
    'a threshold that is too high',
    { settings: { thresholdTokens: 20_001 } },
    undefined,
    'THRESHOLD_TOO_HIGH',
  ],
])('changing a conversation with %s is refused', async (...[, body, mask, reason]) => {
  const { id } = await createWith();

  const response = await patch(id, body, mask === undefined ? {} : { mask });

  expect(await errorOf(response)).toMatchObject({ http: 400, reason });
});

test('ten simultaneous changes of a conversation lose none', async () => {
  const { id } = await createWith();
  const responses = await Promise.all([
    ...Array.from({ length: 5 }, () => patch(id, { title: 'x' })),
    ...Array.from({ length: 5 }, () => patch(id, { metadata: { a: '1' } })),
  ]);

  expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
  const read = await (await chat.call(`/v1/conversations/${id}`)).json();
  expect(read).toMatchObject({ title: 'x', metadata: { a: '1' } });
});

/** A conversation of alice with one answered message. */
async function answeredConversation(uid = 'alice') {
  const id = randomUUID();
  const response = await chat.call(`/v1/conversations/${id}/messages`, {
    uid,
    body: { message: { id: randomUUID(), parts: [{ type: 'text', text: 'Hello.' }] } },
  });
  expect(response.status).toBe(200);
  return { id, path: `/v1/conversations/${id}` };
}

test('a message to one’s own conversation in the bin is refused with the way to take it back', async () => {
  const { path } = await answeredConversation();
  await chat.call(path, { method: 'DELETE' });
  const body = { message: { id: randomUUID(), parts: [{ type: 'text', text: 'Hi' }] } };

  const own = await errorOf(await chat.call(`${path}/messages`, { body }));
  const other = await errorOf(await chat.call(`${path}/messages`, { body, uid: 'mallory' }));

  expect(own).toMatchObject({ http: 404, reason: 'CONVERSATION_NOT_FOUND' });
  expect(own.message).toContain(':undelete');
  expect(other).toMatchObject({ http: 404, reason: 'CONVERSATION_NOT_FOUND' });
  expect(other.message).not.toContain(':undelete');
});

test.each([1, 2, 30])(
  'the list of the bin has the deleted conversations alone, %i a page',
  async (pageSize) => {
    const uid = randomUUID();
    const made = [
      await answeredConversation(uid),
      await answeredConversation(uid),
      await answeredConversation(uid),
    ];
    for (const index of [1, 0]) await chat.call(made[index]?.path ?? '', { method: 'DELETE', uid });

    const seen: string[] = [];
    let token: string | undefined;
    do {
      const query = `?list=deleted&pageSize=${pageSize}${token ? `&pageToken=${token}` : ''}`;
      const response = await chat.call(`/v1/conversations${query}`, { uid });
      const page = await readAs(conversationListResponse, response);
      seen.push(...page.conversations.map(({ id }) => id));
      token = page.nextPageToken;
    } while (token !== undefined);

    expect(seen).toEqual([made[1]?.id, made[0]?.id]);
  },
);
