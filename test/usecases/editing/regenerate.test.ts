import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { sendMessageResponse } from '#shared/wire/resources/messages.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { errorOf, startChatServer, type ChatServer } from '#test/support/chat/chat-server.ts';
import { regenerate, shownTexts, request, answered, turnsOf } from '#test/support/chat/sending.ts';
import { overloaded } from '#test/support/model-down.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

describe('a regenerated answer', () => {
  test.each(['the answer', 'the message'])(
    'a regenerated answer by the id of %s replaces the last one',
    async (by) => {
      const { model, requests } = scriptedStreamer(textAnswer('First.'), textAnswer('Second.'));
      const dependencies = chatDependencies({ model });
      const id = randomUUID();
      const asked = request(id, 'Hello');
      await answered(dependencies, asked);

      const turn = await answered(
        dependencies,
        regenerate(id, by === 'the answer' ? 'm_1' : asked.message.id),
      );

      expect(turn).toMatchObject({ seq: 2, replaces: 1, state: 'done' });
      expect(contentText(turn.user)).toBe('Hello');
      expect(requests[1]?.contents.map(contentText)).toEqual(['Hello']);
      expect(await shownTexts(dependencies, id)).toEqual(['Hello', 'Second.']);
    },
  );

  test('a regenerated answer keeps the message’s options', async () => {
    const dependencies = chatDependencies();
    const id = randomUUID();
    const asked = request(id, 'Hello');
    await answered(dependencies, { ...asked, message: { ...asked.message, retention: 'keep' } });

    const turn = await answered(dependencies, regenerate(id, 'm_1'));

    expect(turn.retention).toBe('keep');
    expect((await turnsOf(dependencies, id, 2))[1]?.retention).toBe('keep');
  });

  test.each(['m_1', 'm_3'])(
    'a regeneration is refused for %s when the last answer is m_2',
    async (messageId) => {
      const dependencies = chatDependencies();
      const id = randomUUID();
      await answered(dependencies, request(id, 'one'));
      await answered(dependencies, request(id, 'two'));

      const asked = sendMessage(dependencies, regenerate(id, messageId));

      await expect(asked).rejects.toMatchObject({
        reason: messageId === 'm_1' ? 'NOT_THE_LAST_ANSWER' : 'MESSAGE_NOT_FOUND',
      });
    },
  );

  test('a failed answer can be regenerated', async () => {
    const { model } = scriptedStreamer({ error: overloaded() }, textAnswer('At last.'));
    const dependencies = chatDependencies({ model });
    const id = randomUUID();
    await expect(answered(dependencies, request(id, 'Hello'))).rejects.toBeDefined();

    const turn = await answered(dependencies, regenerate(id, 'm_1'));

    expect(turn).toMatchObject({ seq: 2, replaces: 1, state: 'done' });
    expect(await shownTexts(dependencies, id)).toEqual(['Hello', 'At last.']);
  });
});

describe('over HTTP', () => {
  let chat: ChatServer;
  beforeAll(async () => {
    chat = await startChatServer();
  });
  afterAll(() => chat.stop());

  const path = (id: string, rest = '') => `/v1/conversations/${id}/messages${rest}`;
  const message = (text: string) => ({
    id: randomUUID(),
    parts: [{ type: 'text', text }],
  });

  async function sent(conversationId: string, text: string) {
    const body = { message: message(text) };
    const response = await chat.call(path(conversationId), { body });
    return sendMessageResponse.parse(await response.json());
  }

  test('an edit over HTTP answers like a send and says what it replaces', async () => {
    const id = randomUUID();
    const first = await sent(id, 'one');

    const response = await chat.call(path(id, `/${first.userMessage.id}:edit`), {
      body: { message: message('one, corrected'), onBusy: 'queue' },
    });

    expect(response.headers.get('x-turn-id')).toBe('t_2');
    const reply = sendMessageResponse.parse(await response.json());
    expect(reply.turn).toMatchObject({ id: 't_2', replaces: 1, inContext: true });
    expect(reply.userMessage.parts).toEqual([{ type: 'text', text: 'one, corrected' }]);
    expect(reply.context.generation).toBe(1);
  });

  test('a regeneration over HTTP needs no body, and each one is new', async () => {
    const id = randomUUID();
    await sent(id, 'one');

    const second = await chat.call(path(id, '/m_1:regenerate'), { method: 'POST' });
    const third = await chat.call(path(id, '/m_2:regenerate'), { body: {} });

    expect([second.status, third.status]).toEqual([200, 200]);
    expect(third.headers.get('x-turn-id')).toBe('t_3');
  });

  test.each([
    { what: 'an unknown message', rest: `/${randomUUID()}:regenerate`, body: {}, status: 404 },
    { what: 'an id that can be none', rest: '/m_0:regenerate', body: {}, status: 404 },
    {
      what: 'an unknown field',
      rest: '/m_1:regenerate',
      body: { requestId: randomUUID() },
      status: 400,
    },
    {
      what: 'an unknown onBusy',
      rest: '/m_1:regenerate',
      body: { onBusy: 'wait' },
      status: 400,
    },
    { what: 'an edit without message', rest: '/m_1:edit', body: {}, status: 400 },
  ])('$what is refused with $status', async ({ rest, body, status }) => {
    const id = randomUUID();
    await sent(id, 'one');

    const error = await errorOf(await chat.call(path(id, rest), { body }));

    expect(error.http).toBe(status);
  });
});
