import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createConversation } from '#functions/chat/conversations/create-conversation.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { findCalls } from '#shared/conversation/context/tool-calls.ts';
import { turnView } from '#shared/wire/resources/turns.ts';
import { collect, request } from '#test/support/chat/sending.ts';
import { answerAll, refusalsOf } from '#test/support/chat/switching.ts';
import { say, useToolModel, toolChat, withAppTools } from '#test/support/tools/tool-world.ts';

const { fakeGemini, model } = await useToolModel();

const caller = { uid: 'u1', tier: 'signedIn' } as const;
const weather = (i: number) => `call weather {"city":"City ${i}"}`;
const locate = (i: number) => `call locate {"question":"where ${i}"}`;
const many = (count: number, line: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => line(i));
const TOO_MANY = { error: expect.stringContaining('More than 32 calls at once') };

const asked = async (lines: readonly string[]) => {
  const { chat, effects } = toolChat(model);
  const conversationId = randomUUID();
  await withAppTools(chat, conversationId, ['locate']);
  return {
    chat,
    effects,
    conversationId,
    ...(await say(chat, conversationId, lines.join('\n'))),
  };
};

test.each<[string, { lines: string[]; ran: number; waits: number }]>([
  ['the app’s last', { lines: [...many(20, weather), ...many(13, locate)], ran: 20, waits: 12 }],
  ['the server’s last', { lines: [...many(13, locate), ...many(20, weather)], ran: 19, waits: 13 }],
  ['by turns', { lines: many(33, (i) => (i % 2 ? weather(i) : locate(i))), ran: 16, waits: 16 }],
  ['the app’s alone', { lines: many(33, locate), ran: 0, waits: 32 }],
])(
  'of 33 calls in a round, %s, 32 run and the last is refused',
  async (_, { lines, ran, waits }) => {
    const { chat, effects, conversationId, turn, chunks } = await asked(lines);

    expect(turn.state).toBe('awaiting_tool');
    expect(effects.size).toBe(ran);
    expect(turnView(turn).openCalls).toHaveLength(waits);
    expect(findCalls(turn.contents)[32]?.response).toEqual(TOO_MANY);
    expect(chunks.filter(({ type }) => type === 'tool-output-error')).toMatchObject([
      { toolCallId: 't_1_c32', providerExecuted: true },
    ]);

    const end = await answerAll(chat, conversationId, 1);

    expect(end.state).toBe('done');
    expect(findCalls(end.contents).map(({ response }) => response)).not.toContain(undefined);
    expect(refusalsOf(fakeGemini)).toEqual([]);
  },
);

test(
  'an endless coding agent gets 200 rounds, a notice, and a last answering call',
  { timeout: 60_000 },
  async () => {
    const { chat, effects } = toolChat(model, {
      environment: { LOOP_DETECTION: 'on', CLIENT_WRITABLE: 'profile' },
    });
    const id = randomUUID();
    await createConversation(chat, { caller, id, fields: { profile: 'coding' } });
    const sent = request(id, many(230, weather).join('\nthen\n'));

    const handle = await sendMessage(chat, sent);
    const chunks = (await collect(handle.frames())).map(({ chunk }) => chunk);
    const { turn } = await handle.result;
    const again = await collect((await sendMessage(chat, sent)).frames());

    expect(turn).toMatchObject({ state: 'done', finishReason: 'STOP', rounds: { count: 201 } });
    expect(effects.size).toBe(200);
    expect(findCalls(turn.contents).at(-1)?.response).toMatchObject({
      error: expect.stringContaining('limit of 200 rounds'),
    });
    expect(turn.contents.at(-1)).toMatchObject({
      role: 'model',
      parts: [{ text: expect.stringContaining('The tools gave') }],
    });
    const notice = {
      type: 'data-notice',
      id: 'rounds',
      data: { kind: 'rounds', limit: 200 },
    };
    expect(chunks.at(-3)).toEqual(notice);
    expect(again.at(-3)?.chunk).toEqual(notice);
    expect(fakeGemini.journal()).toHaveLength(202);
    expect(refusalsOf(fakeGemini)).toEqual([]);
  },
);
