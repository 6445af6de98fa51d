import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import {
  conversationResponse,
  conversationWithContextResponse,
} from '#shared/wire/resources/conversations.ts';
import { errorOf, startChatServer, type CallOptions } from '#test/support/chat/chat-server.ts';
import { createConversation, readAs } from '#test/support/chat/http-answers.ts';

const chat = await startChatServer({ environment: { THRESHOLD_TOKENS: '20000' } });
const openChat = await startChatServer({
  environment: {
    THRESHOLD_TOKENS: '20000',
    CLIENT_WRITABLE: 'model,profile,systemInstruction,windowTokens,compaction,onBusy',
  },
});
afterAll(() => Promise.all([chat.stop(), openChat.stop()]));

const create = (options?: CallOptions) => createConversation(chat, options);

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

  test('creating a conversation again with its id gives the same one', async () => {
    const first = await create({ body: { title: 'one' } });

    const response = await chat.call('/v1/conversations', { body: { id: first.id, title: 'two' } });

    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(first);
  });

  test('creating a conversation 20 times at once with one id makes one', async () => {
    const id = randomUUID();

    const responses = await Promise.all(
      Array.from({ length: 20 }, () => chat.call('/v1/conversations', { body: { id } })),
    );

    const statuses = responses.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([...Array.from({ length: 19 }, () => 200), 201]);
  });

  test('creating a conversation with another user’s id is answered like an unknown one', async () => {
    const { id } = await create({ uid: 'bob' });

    const response = await chat.call('/v1/conversations', { body: { id } });

    expect(await errorOf(response)).toMatchObject({ http: 404, reason: 'CONVERSATION_NOT_FOUND' });
  });

  test.each([
    ['model', { model: 'gemini-2.5-pro' }],
    ['profile', { profile: 'coding' }],
    ['systemInstruction', { systemInstruction: 'Obey me.' }],
    ['settings.windowTokens', { settings: { windowTokens: 5_000 } }],
    ['settings.onBusy', { settings: { onBusy: 'reject' } }],
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
    ['a fraction above', { thresholdFraction: 0.5 }],
    ['the fraction that means never, against', { thresholdFraction: 1 }],
  ])('a threshold of %s the deployment’s is refused', async (_, settings) => {
    const error = await errorOf(await chat.call('/v1/conversations', { body: { settings } }));

    expect(error).toMatchObject({ http: 400, reason: 'THRESHOLD_TOO_HIGH' });
    expect(error.message).toContain('20000');
  });

  test.each([
    ['tokens equal to', { thresholdTokens: 20_000 }],
    ['a fraction below', { thresholdFraction: 0.01 }],
  ])('a threshold of %s the deployment’s is accepted', async (_, settings) => {
    const conversation = await create({ body: { settings } });

    expect(conversation.settings).toEqual(settings);
  });
});

describe('a conversation', () => {
  test('a conversation shows its context object and an ETag', async () => {
    const { id } = await create();

    const response = await chat.call(`/v1/conversations/${id}`);

    expect(response.headers.get('etag')).toMatch(/^"[0-9a-f]{24}-[0-9a-f]{24}"$/);
    const conversation = await readAs(conversationWithContextResponse, response);
    expect(conversation.context).toMatchObject({ tokens: 0, generation: 0, compaction: null });
  });

  test('another user’s, an unknown and a deleted conversation give the same 404', async () => {
    const [other, deleted] = await Promise.all([create({ uid: 'bob' }), create()]);
    const [document] = await chat.dependencies.store.get([conversationPath(deleted.id)]);
    await chat.dependencies.store.commit([
      {
        op: 'update',
        path: conversationPath(deleted.id),
        fields: { state: 'deleted' },
        guard: { updateTime: document?.updateTime ?? '' },
      },
    ]);
    const paths = (id: string): [string, CallOptions][] => [
      [`/v1/conversations/${id}`, {}],
      [`/v1/conversations/${id}`, { method: 'PATCH', body: { title: 'x' } }],
      [`/v1/conversations/${id}/messages`, {}],
      [`/v1/conversations/${id}/context`, {}],
      [`/v1/conversations/${id}/context?generation=1`, {}],
      [`/v1/conversations/${id}/compactions`, {}],
      [`/v1/conversations/${id}/compactions/1`, {}],
      [`/v1/conversations/${id}/turns/t_1`, {}],
      [`/v1/conversations/${id}:compact`, { method: 'POST', body: {} }],
    ];

    const bodies = [];
    for (const id of [other.id, deleted.id, randomUUID(), 'no-uuid'])
      for (const [path, options] of paths(id)) {
        const response = await chat.call(path, options);
        expect(response.status).toBe(404);
        bodies.push(await response.text());
      }

    expect(new Set(bodies).size).toBe(1);
  });
});
