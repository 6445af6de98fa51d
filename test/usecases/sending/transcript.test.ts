import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { messageListResponse, sendMessageResponse } from '#shared/wire/resources/messages.ts';
import { turnResponse } from '#shared/wire/resources/turns.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { errorOf, startChatServer, readAs } from '#test/support/chat/chat-server.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';

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

test.each(['asc', 'desc'])(
  'the transcript around a turn in order %s goes on in both directions to its ends',
  async (order) => {
    const id = await conversationOf(9);
    const rolesOf = ({ messages }: Awaited<ReturnType<typeof list>>) =>
      messages.map(({ role, seq }) => `${role}${seq}`);
    const query = `?around=5&order=${order}&pageSize=4`;

    const middle = await list(id, query);
    const seen = [rolesOf(middle)];
    let { nextPageToken: next, previousPageToken: previous } = middle;
    while (next !== undefined) {
      const page = await list(id, `${query}&pageToken=${next}`);
      seen.push(rolesOf(page));
      expect(page.previousPageToken).toBeUndefined();
      next = page.nextPageToken;
    }
    while (previous !== undefined) {
      const page = await list(id, `${query}&pageToken=${previous}`);
      seen.unshift(rolesOf(page));
      expect(page.nextPageToken).toBeUndefined();
      previous = page.previousPageToken;
    }

    const inMiddle = ['user4', 'model4', 'user5', 'model5'];
    expect(rolesOf(middle)).toEqual(order === 'asc' ? inMiddle : inMiddle.toReversed());
    const expected = Array.from({ length: 9 }, (_, i) => [`user${i + 1}`, `model${i + 1}`]).flat();
    expect(seen.flat()).toEqual(order === 'asc' ? expected : expected.toReversed());
  },
);

test('the transcript around a turn has no page where nothing more stands, and none outside of the list', async () => {
  const id = await conversationOf(3);

  const whole = await list(id, '?around=2');
  const one = await list(id, '?around=2&pageSize=1');
  const behind = await list(id, '?around=99&pageSize=2');
  const missed = await list(id, '?around=2&afterSeq=2');

  expect(whole.messages).toHaveLength(6);
  expect([whole.nextPageToken, whole.previousPageToken]).toEqual([undefined, undefined]);
  expect(one.messages.map(({ role, seq }) => `${role}${seq}`)).toEqual(['user2']);
  const before = await list(id, `?around=2&pageSize=1&pageToken=${one.previousPageToken}`);
  expect(before.messages.map(({ role, seq }) => `${role}${seq}`)).toEqual(['model1']);
  expect(behind.messages.map(({ role, seq }) => `${role}${seq}`)).toEqual(['model2', 'user3']);
  expect(missed.messages.map(({ seq }) => seq)).toEqual([3, 3]);
  expect(missed.previousPageToken).toBeUndefined();
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
