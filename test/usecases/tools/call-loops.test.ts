import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createConversation } from '#functions/chat/conversations/create-conversation.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import type { ServerTool } from '#functions/chat/turns/tools/server-tool.ts';
import { findCalls } from '#shared/conversation/context/tool-calls.ts';
import { caller } from '#test/support/chat/routing.ts';
import { collect, request } from '#test/support/chat/sending.ts';
import { answerAll } from '#test/support/chat/switching.ts';
import { say, useToolModel, tool, toolChat } from '#test/support/tools/tool-world.ts';

const { fakeGemini, model } = await useToolModel();

const OSLO = 'call weather {"city":"Oslo"}';
const ROME = 'call weather {"city":"Rome"}';
const FEEDBACK = expect.objectContaining({ repeatedCall: true });

const rounds = (...calls: string[]) => calls.join('\nthen\n');
const times = (count: number, call: string) => Array.from({ length: count }, () => call);

async function asked(text: string, environment: Record<string, string> = {}) {
  const { chat, effects } = toolChat(model, {
    environment: { LOOP_DETECTION: 'on', ...environment },
  });
  const conversationId = randomUUID();
  const { turn, chunks } = await say(chat, conversationId, text);
  const responses = findCalls(turn.contents).map(({ response }) => response);
  return { chat, conversationId, turn, chunks, effects, responses };
}

describe('a call that is asked for five times in a row', () => {
  test('the fifth equal call in a row is not run, and the model reads why', async () => {
    const { turn, effects, responses } = await asked(rounds(...times(5, OSLO)));

    expect([...effects.keys()]).toEqual(['t_1:0', 't_1:1', 't_1:2', 't_1:3']);
    expect(responses[4]).toEqual(FEEDBACK);
    expect(turn).toMatchObject({ state: 'done', finishReason: 'STOP' });
  });

  test('a looping call is shown as failed in the stream', async () => {
    const { chunks } = await asked(rounds(...times(5, OSLO)));

    expect(chunks.filter(({ type }) => type === 'tool-output-error')).toMatchObject([
      { toolCallId: 't_1_c4', errorText: expect.stringContaining('5 times in a row') },
    ]);
    expect(chunks.some(({ type }) => type === 'data-notice')).toBe(false);
  });

  test('a looping call does not end a turn that then does something else', async () => {
    const { effects, turn } = await asked(rounds(...times(5, OSLO), ROME));

    expect(effects.has('t_1:5')).toBe(true);
    expect(turn.finishReason).toBe('STOP');
  });

  test('a call that loops again ends the turn with whole pairs and a notice', async () => {
    const { turn, chunks, effects, responses } = await asked(rounds(...times(8, OSLO)));

    expect(turn).toMatchObject({ state: 'done', finishReason: 'LOOP_OF_CALLS', inContext: true });
    expect(effects.size).toBe(4);
    expect(responses).toHaveLength(6);
    expect(responses.slice(4)).toEqual([FEEDBACK, FEEDBACK]);
    expect(chunks.slice(-3)).toMatchObject([
      { type: 'data-notice', id: 'loop', data: { kind: 'loop', of: 'calls' } },
      { type: 'data-context' },
      { type: 'finish', finishReason: 'other' },
    ]);
  });

  test('a looping call leaves a usable conversation', async () => {
    const { chat, conversationId } = await asked(rounds(...times(8, OSLO)));

    const { turn } = await say(chat, conversationId, ROME);

    expect(turn).toMatchObject({ state: 'done', finishReason: 'STOP' });
    expect(fakeGemini.journal().flatMap(({ refusal }) => refusal ?? [])).toEqual([]);
  });

  test('a looping call is reported again when the turn is replayed', async () => {
    const { chat } = toolChat(model, { environment: { LOOP_DETECTION: 'on' } });
    const send = request(randomUUID(), rounds(...times(8, OSLO)));
    const first = await collect((await sendMessage(chat, send)).frames());

    const again = await collect((await sendMessage(chat, send)).frames());

    expect(again.at(-3)).toEqual(first.at(-3));
    expect(again.at(-3)?.chunk).toMatchObject({ type: 'data-notice', id: 'loop' });
  });

  test('a looping call runs where the deployment disables the check', async () => {
    const { effects, turn } = await asked(rounds(...times(6, OSLO)), { LOOP_DETECTION: 'off' });

    expect(effects.size).toBe(6);
    expect(turn.finishReason).toBe('STOP');
  });
});

describe('a tool that is polled', () => {
  const STATE = 'call job_state {"id":7}';
  const pending = tool('job_state', { id: z.number() }, () =>
    Promise.resolve({ state: 'pending' }),
  );
  const polling = async (tools: readonly ServerTool[]) => {
    const { chat } = toolChat(model, { environment: { LOOP_DETECTION: 'on' }, tools });
    return (await say(chat, randomUUID(), rounds(...times(8, STATE)))).turn;
  };

  test('a polled tool may repeat itself in as many rounds as there are', async () => {
    const turn = await polling([{ ...pending, polled: true }]);

    expect(turn).toMatchObject({ finishReason: 'STOP', rounds: { count: 8 } });
  });

  test('a polled tool that nobody declared so is a loop', async () => {
    const turn = await polling([pending]);

    expect(turn).toMatchObject({ finishReason: 'LOOP_OF_CALLS', rounds: { count: 6 } });
  });

  test.each([
    { declared: { polled: true }, end: 'STOP', asked: 7 },
    { declared: {}, end: 'LOOP_OF_CALLS', asked: 4 },
  ])(
    'a polled tool of the app, $declared, is waited for $asked times',
    async ({ declared, end, asked: waits }) => {
      const { chat } = toolChat(model, {
        environment: { LOOP_DETECTION: 'on', CLIENT_WRITABLE: 'tools' },
      });
      const id = randomUUID();
      const tools = [{ name: 'locate', parameters: { type: 'object' as const }, ...declared }];
      await createConversation(chat, { caller, id, fields: { tools } });

      let { turn } = await say(chat, id, rounds(...times(7, 'call locate')));
      let answered = 0;
      for (; turn.state === 'awaiting_tool'; answered++) turn = await answerAll(chat, id, 1);

      expect(answered).toBe(waits);
      expect(turn.finishReason).toBe(end);
    },
  );
});

test('two alternating calls loop after ten, and those of one round never', async () => {
  const byTurns = await asked(rounds(...times(5, `${OSLO}\nthen\n${ROME}`)), { TOOL_ROUNDS: '20' });
  const atOnce = await asked(times(8, OSLO).join('\n'));

  expect(byTurns.responses.map((response) => response?.['repeatedCall'] === true)).toEqual([
    ...times(9, '').map(() => false),
    true,
  ]);
  expect(atOnce.effects.size).toBe(8);
});
