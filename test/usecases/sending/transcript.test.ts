import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { assembleContext, assemblePrompt } from '#shared/conversation/context/assemble-context.ts';
import { conversationPath, historyPath } from '#shared/conversation/documents/paths.ts';
import { readConversation, readTurns } from '#shared/conversation/context/read-conversation.ts';
import { contextResponse } from '#shared/wire/resources/context.ts';
import { messageListResponse, sendMessageResponse } from '#shared/wire/resources/messages.ts';
import { turnResponse } from '#shared/wire/resources/turns.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { errorOf, startChatServer } from '#test/support/chat/chat-server.ts';
import { readAs } from '#test/support/chat/http-answers.ts';
import { encodeHistory, type History } from '#shared/conversation/documents/history.ts';

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
    ['asc', 1],
    ['asc', 3],
    ['asc', 100],
    ['desc', 1],
    ['desc', 3],
    ['desc', 4],
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

  test('the transcript returns 30 messages by default and at most 100', async () => {
    const id = await conversationOf(51);

    expect((await list(id)).messages).toHaveLength(30);
    expect((await list(id, '?pageSize=0')).messages).toHaveLength(30);
    expect((await list(id, '?pageSize=5000')).messages).toHaveLength(100);
  });

  test('the transcript shows the state of a turn, and 404 for a missing one', async () => {
    const id = await conversationOf(1);

    const turn = await readAs(turnResponse, await chat.call(`/v1/conversations/${id}/turns/t_1`));
    const none = await chat.call(`/v1/conversations/${id}/turns/t_2`);

    expect(turn).toMatchObject({ id: 't_1', state: 'done', attempt: 1, answerId: 'm_1' });
    expect(await errorOf(none)).toMatchObject({ http: 404, reason: 'TURN_NOT_FOUND' });
  });
});

const history: History = {
  schemaVersion: 1,
  generation: 1,
  parent: 0,
  state: 'COMPACTED',
  strategy: 'gemini-cli',
  trigger: 'auto',
  requestId: randomUUID(),
  coveredThrough: { seq: 2, contentIndex: 0 },
  from: 1,
  turnsFolded: 2,
  beforeTokens: 10,
  afterTokens: 5,
  snapshotTokens: 5,
  boundary: 'b',
  snapshotText: 'What was said.',
  sourceHash: 'h',
  model: 'm',
  promptVersion: '1',
  modelCalls: 1,
  usage: { promptTokens: 1, outputTokens: 1 },
  requestedAt: new Date(0),
  createTime: new Date(0),
  durationMs: 1,
  by: 'w',
  snapshot: null,
  masks: [],
  report: {},
};

/** Puts generation 1 over the first two turns. */
async function swap(id: string): Promise<void> {
  await chat.dependencies.store.commit([
    {
      op: 'create',
      path: historyPath(id, 1),
      fields: encodeHistory({ ...history, createTime: new Date() }),
    },
    {
      op: 'update',
      path: conversationPath(id),
      fields: { generation: 1, coveredThrough: history.coveredThrough },
      guard: { exists: true },
    },
  ]);
}

describe('the context', () => {
  const show = async (id: string, query = '') =>
    readAs(contextResponse, await chat.call(`/v1/conversations/${id}/context${query}`));

  test('the context is the next prompt except its last user content', async () => {
    const id = await conversationOf(3);
    await swap(id);

    const { items } = await show(id);
    await send(id, 'what next?');

    const prompt = streamer.requests.at(-1);
    const contents = items.filter(({ kind }) => kind !== 'system').map(({ content }) => content);
    expect(JSON.stringify(contents)).toBe(JSON.stringify(prompt?.contents.slice(0, -1)));
    expect(items[0]).toMatchObject({ kind: 'system', content: prompt?.systemInstruction });
  });

  test('the context names each piece with its kind, turn and tokens', async () => {
    const id = await conversationOf(3);
    await swap(id);

    const context = await show(id);

    expect(context.generation).toBe(1);
    expect(context.contextTokens).toBeGreaterThan(0);
    expect(context.items.map(({ kind, seq }) => [kind, seq])).toEqual([
      ['system', undefined],
      ['snapshot', undefined],
      ['ack', undefined],
      ['turn', 3],
      ['turn', 3],
    ]);
    expect(context.items.every(({ tokens }) => tokens > 0)).toBe(true);
  });

  test('the context of an earlier generation shows what that generation showed last', async () => {
    const id = await conversationOf(3);
    const conversation = await readConversation(chat.dependencies.store, id);
    const turns = await readTurns(chat.dependencies.store, id, [1, 2, 3]);
    await swap(id);
    await send(id, 'after the swap');

    const { generation, items } = await show(id, '?generation=0');

    expect(generation).toBe(0);
    const source = { history: undefined, turns: turns.map(({ value }) => value) };
    const then =
      conversation &&
      assemblePrompt(
        { ...conversation.value, ...source },
        assembleContext({ ...conversation.value, ...source }),
      );
    expect(items.slice(1).map(({ content }) => content)).toEqual(then?.contents);
  });

  test('the context of a future generation is 404', async () => {
    const id = await conversationOf(1);

    const response = await chat.call(`/v1/conversations/${id}/context?generation=1`);

    expect(await errorOf(response)).toMatchObject({ http: 404, reason: 'GENERATION_NOT_FOUND' });
  });
});
