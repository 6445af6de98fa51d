import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { messageListResponse, sendMessageResponse } from '#shared/wire/resources/messages.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { errorOf, startChatServer, type ChatServer } from '#test/support/chat/chat-server.ts';
import { regenerate, shownTexts } from '#test/support/chat/replacing.ts';
import { overloaded } from '#test/support/model-down.ts';
import { request } from '#test/support/chat/sending.ts';
import { answered, turnsOf } from '#test/support/chat/starts.ts';
import { sendAndDie } from '#test/support/chat/streaming.ts';

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

  test('a regenerated answer can be regenerated again', async () => {
    const dependencies = chatDependencies();
    const id = randomUUID();
    await answered(dependencies, request(id, 'Hello'));
    await answered(dependencies, regenerate(id, 'm_1'));

    const turn = await answered(dependencies, regenerate(id, 'm_2'));

    expect(turn).toMatchObject({ seq: 3, replaces: 2 });
    expect(contentText(turn.user)).toBe('Hello');
    expect((await turnsOf(dependencies, id, 3)).map(({ inContext }) => inContext)).toEqual([
      false,
      false,
      true,
    ]);
    expect((await readConversation(dependencies.store, id))?.value.generation).toBe(2);
  });

  test('a regenerated answer keeps the message’s options', async () => {
    const dependencies = chatDependencies();
    const id = randomUUID();
    const asked = request(id, 'Hello');
    await answered(dependencies, { ...asked, message: { ...asked.message, retention: 'keep' } });

    const turn = await answered(dependencies, regenerate(id, 'm_1'));

    expect(turn.retention).toBe('keep');
    expect((await turnsOf(dependencies, id, 2))[1]?.retention).toBe('keep');
  });

  test('a regeneration requested twice with one id happens once', async () => {
    const { model, requests } = scriptedStreamer(textAnswer('Fine.'));
    const dependencies = chatDependencies({ model });
    const id = randomUUID();
    await answered(dependencies, request(id, 'Hello'));
    const asked = regenerate(id, 'm_1');

    const turns = await Promise.all([answered(dependencies, asked), answered(dependencies, asked)]);
    const replay = await sendMessage(dependencies, asked);

    expect(turns.map(({ seq }) => seq)).toEqual([2, 2]);
    expect(replay.replayed).toBe(true);
    expect(requests).toHaveLength(2);
  });

  test('a regeneration whose instance died is taken over with the same text', async () => {
    const clock = createManualClock();
    const { model, requests } = scriptedStreamer(textAnswer('Fine.'));
    const dependencies = chatDependencies({ clock, model });
    const id = randomUUID();
    await answered(dependencies, request(id, 'Hello'));
    const asked = regenerate(id, 'm_1');
    await sendAndDie(dependencies, asked);
    clock.advance(20_001);

    const turn = await answered(dependencies, asked);

    expect(turn).toMatchObject({ seq: 2, attempt: 2, replaces: 1, state: 'done' });
    expect(requests.at(-1)?.contents.map(contentText)).toEqual(['Hello']);
  });

  test('a failed answer can be regenerated', async () => {
    const { model } = scriptedStreamer({ error: overloaded() }, textAnswer('At last.'));
    const dependencies = chatDependencies({ model });
    const id = randomUUID();
    await expect(answered(dependencies, request(id, 'Hello'))).rejects.toBeDefined();

    const turn = await answered(dependencies, regenerate(id, 'm_1'));

    expect(turn).toMatchObject({ seq: 2, replaces: 1, state: 'done' });
    expect(await shownTexts(dependencies, id)).toEqual(['Hello', 'At last.']);
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

  test('a regeneration over HTTP streams where a stream is requested', async () => {
    const id = randomUUID();
    await sent(id, 'one');

    const response = await chat.call(path(id, '/m_1:regenerate'), {
      body: { id: randomUUID() },
      headers: { accept: 'text/event-stream' },
    });

    expect(response.headers.get('content-type')).toContain('text/event-stream');
    expect(await response.text()).toContain('"text-delta"');
  });

  test('the transcript shows replaced messages as out of the context', async () => {
    const id = randomUUID();
    await sent(id, 'one');
    await chat.call(path(id, '/m_1:regenerate'), { body: {} });

    const list = messageListResponse.parse(await (await chat.call(path(id))).json());

    expect(
      list.messages.map(({ seq, role, inContext, replaces }) => [seq, role, inContext, replaces]),
    ).toEqual([
      [1, 'user', false, undefined],
      [1, 'model', false, undefined],
      [2, 'user', true, 1],
      [2, 'model', true, 1],
    ]);
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
