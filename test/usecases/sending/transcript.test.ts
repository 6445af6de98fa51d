import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { messageListResponse, sendMessageResponse } from '#shared/wire/resources/messages.ts';
import { turnResponse } from '#shared/wire/resources/turns.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { errorOf, startChatServer, readAs } from '#test/support/chat/chat-server.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';

const SYSTEM_INSTRUCTION = 'You are kind.';

const streamer = scriptedStreamer(textAnswer('Fine.'));
const chat = await startChatServer({
  overrides: { model: streamer.model },
  environment: { SYSTEM_INSTRUCTION },
});
afterAll(() => chat.stop());

async function send(conversationId: string, text: string) {
  const id = randomUUID();
  const response = await chat.call(`/v1/conversations/${conversationId}/messages`, {
    body: { message: { id, parts: [{ type: 'text', text }] } },
  });
  return readAs(sendMessageResponse, response);
}

/** A conversation with the messages `q1`, `q2`, … and their answers. */
async function conversationOf(turns: number): Promise<string> {
  const id = randomUUID();
  for (let i = 1; i <= turns; i++) await send(id, `q${i}`);
  return id;
}

const list = async (id: string, query = '') =>
  readAs(messageListResponse, await chat.call(`/v1/conversations/${id}/messages${query}`));

async function listAll(id: string, query: string): Promise<string[]> {
  const seen: string[] = [];
  let token: string | undefined;
  do {
    const page = await list(id, `${query}${token === undefined ? '' : `&pageToken=${token}`}`);
    seen.push(...page.messages.map(({ role, seq }) => `${role}${seq}`));
    token = page.nextPageToken;
  } while (token !== undefined);
  return seen;
}

describe('the transcript', () => {
  test('the transcript has user message and answer separately, each under its id', async () => {
    const id = randomUUID();
    const { userMessage, message } = await send(id, 'q1');

    const { messages } = await list(id);

    expect(messages).toEqual([userMessage, message]);
    expect(messages).toMatchObject([
      {
        role: 'user',
        seq: 1,
        turnId: 't_1',
        parts: [{ type: 'text', text: 'q1' }],
        inContext: true,
      },
      { role: 'model', id: 'm_1', state: 'done', finishReason: 'stop' },
    ]);
  });

  test.each([
    ['asc', 3],
    ['asc', 100],
    ['desc', 1],
  ])('the transcript in order %s is complete in pages of %i', async (order, pageSize) => {
    const id = await conversationOf(4);

    const seen = await listAll(id, `?order=${order}&pageSize=${pageSize}`);

    const expected = [1, 2, 3, 4].flatMap((seq) => [`user${seq}`, `model${seq}`]);
    expect(seen).toEqual(order === 'asc' ? expected : expected.toReversed());
  });

  test('the transcript after a seq has what a second device misses', async () => {
    const id = await conversationOf(4);

    expect(await listAll(id, '?afterSeq=2&pageSize=3')).toEqual([
      'user3',
      'model3',
      'user4',
      'model4',
    ]);
    expect(await listAll(id, '?afterSeq=2&order=desc&pageSize=3')).toEqual([
      'model4',
      'user4',
      'model3',
      'user3',
    ]);
    expect((await list(id, '?afterSeq=4')).messages).toEqual([]);
  });

  test('the transcript shows the state of a turn, and 404 for a missing one', async () => {
    const id = await conversationOf(1);

    const turn = await readAs(turnResponse, await chat.call(`/v1/conversations/${id}/turns/t_1`));
    const none = await chat.call(`/v1/conversations/${id}/turns/t_2`);

    expect(turn).toMatchObject({ id: 't_1', state: 'done', attempt: 1, answerId: 'm_1' });
    expect(await errorOf(none)).toMatchObject({ http: 404, reason: 'TURN_NOT_FOUND' });
  });

  test('the transcript returns 30 messages by default and at most 100', async () => {
    const { conversationId: id } = await buildConversation(chat.dependencies.store, {
      turns: 51,
      conversation: { ownerUid: 'alice' },
    });

    expect((await list(id)).messages).toHaveLength(30);
    expect((await list(id, '?pageSize=0')).messages).toHaveLength(30);
    expect((await list(id, '?pageSize=5000')).messages).toHaveLength(100);
  });
});
