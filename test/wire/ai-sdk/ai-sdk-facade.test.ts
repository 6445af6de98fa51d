import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { contentText } from '#shared/conversation/documents/content.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { heldStreamer } from '#test/fakes/held-streamer.ts';
import { errorOf, startChatServer } from '#test/support/chat/chat-server.ts';
import { eventually } from '#test/support/eventually.ts';

const { model, calls, answerAll } = heldStreamer();
answerAll();
const server = await startChatServer({ overrides: { model } });
afterAll(() => server.stop());

const saying = (text: string, id: string = randomUUID()) => ({
  id,
  role: 'user',
  parts: [{ type: 'text', text }],
});

const post = (body: object, uid = 'alice') =>
  server.call('/v1/ai-sdk/chat', { uid, body: { trigger: 'submit-message', ...body } });

/** What the `start` of a stream tells of its turn, and the text that follows. */
async function readAnswer(response: Response) {
  const chunks = [...(await response.text()).matchAll(/^data: (\{.*\})$/gm)].map(([, json = '']) =>
    JSON.parse(json),
  );
  const [{ messageId, messageMetadata }] = chunks;
  const text = chunks.map(({ type, delta }) => (type === 'text-delta' ? delta : '')).join('');
  return { messageId, ...messageMetadata, text };
}

const send = async (body: object, uid?: string) => readAnswer(await post(body, uid));

/** An edit as `sendMessage({ text, messageId })` asks for it. */
const edit = (id: string, messageId: string, text: string) =>
  send({ id, messages: [saying(text, messageId)], messageId });

const regenerate = (id: string, messages: object[], messageId?: string) =>
  send({ id, messages, messageId, trigger: 'regenerate-message' });

const turnOf = async (conversationId: string, seq: number) =>
  (await readTurns(server.dependencies.store, conversationId, [seq]))[0]?.value;

const callsAbout = (text: string) => calls.filter((call) => call.text === text);

describe('the ids of the AI SDK', () => {
  test('the AI SDK’s ids that are UUIDs become conversation and message ids', async () => {
    const id = randomUUID();
    const message = saying('Hello');

    const { conversationId } = await send({ id, messages: [message] });

    expect(conversationId).toBe(id);
    expect((await turnOf(id, 1))?.messageId).toBe(message.id);
  });

  test.each(['main', 'k3J8vQ0pLx2ZnR7a', '6ba7b810-9dad-11d1-80b4-00c04fd430c8', '채팅 1'])(
    'the AI SDK’s id that is no UUID maps to the same ids each time: %s',
    async (name) => {
      const id = `${name} ${randomUUID().slice(0, 4)}`;
      const messages = [saying('Hello', 'message-1')];

      const first = await send({ id, messages });
      const again = await send({ id, messages });

      expect(first.conversationId).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-/,
      );
      expect(again).toEqual({ ...first, replayed: true });
    },
  );

  test('an AI SDK id that two users share is two conversations', async () => {
    const body = { id: `main-${randomUUID()}`, messages: [saying('Hello', 'message-1')] };

    const [alice, bob] = [await send(body, 'alice'), await send(body, 'bob')];

    expect(alice.conversationId).not.toBe(bob.conversationId);
    expect(bob.replayed).toBe(false);
  });

  test('an AI SDK chat’s conversation is readable over the native API', async () => {
    const { conversationId } = await send({
      id: randomUUID().slice(0, 9),
      messages: [saying('A')],
    });

    const listed = await server.call(`/v1/conversations/${conversationId}/messages`);

    expect(await listed.json()).toMatchObject({ messages: [{ role: 'user' }, { role: 'model' }] });
  });
});

describe('another user’s conversation', () => {
  test('the AI SDK route hides another user’s conversation with 404, whatever is requested', async () => {
    const id = randomUUID();
    const message = saying('Mine');
    await send({ id, messages: [message] });

    const answers = [
      await post({ id, messages: [message] }, 'mallory'),
      await post(
        { id, messages: [saying('Changed', message.id)], messageId: message.id },
        'mallory',
      ),
      await post({ id, messages: [message], trigger: 'regenerate-message' }, 'mallory'),
      await post(
        { id, messages: [message], trigger: 'regenerate-message', messageId: 'm_1' },
        'mallory',
      ),
    ];

    for (const answer of answers)
      expect(await errorOf(answer)).toMatchObject({ http: 404, reason: 'CONVERSATION_NOT_FOUND' });
  });

  test('another user’s AI SDK stream has nothing to resume, like a missing one', async () => {
    const held = heldStreamer();
    const busy = await startChatServer({ overrides: { model: held.model } });
    const id = randomUUID();
    const body = { id, messages: [saying('Mine')] };
    const sent = await busy.call('/v1/ai-sdk/chat', { body });
    await eventually('a model call', () => Promise.resolve(held.calls[0]));
    const path = `/v1/ai-sdk/chat/${id}/stream`;

    const own = await busy.call(path);
    const others = await busy.call(path, { uid: 'mallory' });
    const unknown = await busy.call(`/v1/ai-sdk/chat/${randomUUID()}/stream`);
    held.answerAll();

    expect([own.status, others.status, unknown.status]).toEqual([200, 204, 204]);
    expect((await readAnswer(own)).text).toBe('Answer to Mine.');
    await sent.text();
    await busy.stop();
  });
});

describe('a message that is changed', () => {
  test('an AI SDK message edited back is answered again, replacing the edit', async () => {
    const id = randomUUID();
    const messageId = 'u1';
    await send({ id, messages: [saying('Ambiguous', messageId)] });
    await edit(id, messageId, 'Clear');

    const back = await edit(id, messageId, 'Ambiguous');

    expect(back).toMatchObject({ messageId: 'm_3', replayed: false, text: 'Answer to Ambiguous.' });
    expect(await turnOf(id, 3)).toMatchObject({ replaces: 2, inContext: true });
  });

  test('an AI SDK edit sent twice is one edit', async () => {
    const id = randomUUID();
    await send({ id, messages: [saying('one', 'u1')] });
    await edit(id, 'u1', 'two');

    const again = await edit(id, 'u1', 'two');

    expect(again).toMatchObject({ messageId: 'm_2', replayed: true });
    expect(await turnOf(id, 3)).toBeUndefined();
  });

  test('an AI SDK edit of an earlier message removes later ones from the context', async () => {
    const id = randomUUID();
    await send({ id, messages: [saying('one', 'u1')] });
    await send({ id, messages: [saying('two', 'u2')] });

    await edit(id, 'u1', 'one, better');

    const texts = calls.at(-1)?.request.contents.map(contentText);
    expect(texts).toEqual(['one, better']);
    expect((await turnOf(id, 2))?.inContext).toBe(false);
  });

  test('an AI SDK message changed without an edit request is refused with 409', async () => {
    const id = randomUUID();
    await send({ id, messages: [saying('one', 'u1')] });

    const answer = await errorOf(await post({ id, messages: [saying('another', 'u1')] }));

    expect(answer).toMatchObject({ http: 409, reason: 'IDEMPOTENCY_KEY_REUSED' });
  });
});

describe('regenerating an answer', () => {
  test('an AI SDK regeneration by answer id happens once, however often it is sent', async () => {
    const id = randomUUID();
    const text = `Once ${id}`;
    const messages = [saying(text, 'u1')];
    await send({ id, messages });

    const anew = await regenerate(id, messages, 'm_1');
    const again = await regenerate(id, messages, 'm_1');

    expect(again).toEqual({ ...anew, replayed: true });
    expect(callsAbout(text)).toHaveLength(2);
  });

  test('an AI SDK regeneration after an edit answers the edited message', async () => {
    const id = randomUUID();
    await send({ id, messages: [saying('one', 'u1')] });
    await edit(id, 'u1', 'two');

    const anew = await regenerate(id, [saying('two', 'u1')]);

    expect(anew).toMatchObject({ messageId: 'm_3', text: 'Answer to two.' });
  });

  test('an AI SDK regeneration of a message that never arrived is its first answer', async () => {
    const id = randomUUID();
    const message = saying('Lost on the way');

    const answer = await regenerate(id, [message]);

    expect(answer).toMatchObject({ messageId: 'm_1', text: 'Answer to Lost on the way.' });
    expect((await turnOf(id, 1))?.messageId).toBe(message.id);
  });

  test('an AI SDK regeneration of a running answer attaches to it', async () => {
    const held = heldStreamer();
    const busy = await startChatServer({ overrides: { model: held.model } });
    const body = { id: randomUUID(), messages: [saying('Hello')] };
    const sent = await busy.call('/v1/ai-sdk/chat', { body });
    await eventually('a model call', () => Promise.resolve(held.calls[0]));

    const again = { ...body, trigger: 'regenerate-message' };
    const attached = await busy.call('/v1/ai-sdk/chat', { body: again });
    held.answerAll();

    expect((await readAnswer(attached)).text).toBe('Answer to Hello.');
    await sent.text();
    expect(held.calls).toHaveLength(1);
    await busy.stop();
  });
});

describe('what is taken of a body', () => {
  test('an AI SDK body may have the app’s own fields', async () => {
    const answer = await send({
      id: randomUUID(),
      messages: [
        { id: 1, role: 'assistant', parts: 'nonsense', extra: true },
        {
          ...saying('Hello'),
          metadata: { mood: 'good' },
          createdAt: '2026-01-01',
          parts: [
            { type: 'step-start' },
            { type: 'data-location', data: { city: 'Seoul' } },
            { type: 'text', text: '' },
            { type: 'text', text: 'Hello', state: 'done', providerMetadata: {} },
          ],
        },
        { id: 'a', role: 'assistant', parts: [{ type: 'text', text: 'Half' }] },
      ],
      sessionId: 'abc',
      messageId: null,
    });

    expect(answer.text).toBe('Answer to Hello.');
  });

  test.each([
    [
      'a PNG',
      'data:image/png;base64,aGVsbG8=',
      { inlineData: { mimeType: 'image/png', data: 'aGVsbG8=' } },
    ],
    [
      'one with a parameter',
      'data:image/png;name=a.png;base64,aGVsbG8=',
      { inlineData: { mimeType: 'image/png', data: 'aGVsbG8=' } },
    ],
    [
      'an address',
      'https://example.com/a.png',
      { fileData: { mimeType: 'image/png', fileUri: 'https://example.com/a.png' } },
    ],
  ])('an AI SDK body’s files are read: %s', async (_, url, part) => {
    const id = randomUUID();
    const message = saying('Look');

    const file = { type: 'file', mediaType: 'image/png', filename: 'a.png', url };
    await send({ id, messages: [{ ...message, parts: [file, ...message.parts] }] });

    expect((await turnOf(id, 1))?.user.parts).toEqual([part, { text: 'Look' }]);
  });

  test.each([
    ['no message', { messages: [] }, { reason: 'BAD_FIELD', metadata: { field: 'messages' } }],
    [
      'no message of the user',
      { messages: [{ role: 'assistant', parts: [] }] },
      { reason: 'BAD_FIELD', metadata: { field: 'messages' } },
    ],
    [
      'no parts',
      { messages: [{ id: 'u', role: 'user', parts: [] }] },
      { reason: 'BAD_PART', metadata: { field: 'messages[0].parts' } },
    ],
    [
      'no id of the message',
      { messages: [{ ...saying('x'), id: undefined }] },
      { reason: 'BAD_FIELD', metadata: { field: 'message.id' } },
    ],
    [
      'a file that is not base64',
      {
        messages: [
          {
            ...saying('x'),
            parts: [{ type: 'file', mediaType: 'text/plain', url: 'data:text/plain,hi' }],
          },
        ],
      },
      { reason: 'BAD_PART', metadata: { field: 'message.parts[0].url' } },
    ],
    [
      'a file of http',
      {
        messages: [
          {
            ...saying('x'),
            parts: [{ type: 'file', mediaType: 'image/png', url: 'http://x.example/a' }],
          },
        ],
      },
      { reason: 'BAD_PART', metadata: { field: 'message.parts[0].url' } },
    ],
    [
      'half of a surrogate pair',
      { messages: [saying('\ud800')] },
      { reason: 'BAD_PART', metadata: { field: 'message.parts[0].text' } },
    ],
    [
      'an unknown trigger',
      { messages: [saying('x')], trigger: 'resume-stream' },
      { reason: 'BAD_FIELD', metadata: { field: 'trigger' } },
    ],
    [
      'a chat id with a colon',
      { id: 'a:b', messages: [saying('x')] },
      { reason: 'BAD_FIELD', metadata: { field: 'id' } },
    ],
    [
      'no chat id',
      { id: undefined, messages: [saying('x')] },
      { reason: 'BAD_FIELD', metadata: { field: 'id' } },
    ],
  ])('an AI SDK body is refused for %s', async (_, body, expected) => {
    const answer = await errorOf(await post({ id: randomUUID(), ...body }));

    expect(answer).toMatchObject({ http: 400, ...expected });
  });

  test('an AI SDK body with one text over the limit is refused', async () => {
    const body = { id: randomUUID(), messages: [saying('x'.repeat(40_000))] };

    expect(await errorOf(await post(body))).toMatchObject({ http: 400, reason: 'TEXT_TOO_LONG' });
  });
});
