import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { answerCalls } from '#functions/chat/turns/tools/answer-calls.ts';
import type { ToolResult } from '#shared/conversation/context/tool-results.ts';
import { turnView } from '#shared/wire/resources/turns.ts';
import { collect } from '#test/support/chat/sending.ts';
import { idsOf, storedTurn } from '#test/support/chat/streaming.ts';
import {
  responsesIn,
  say,
  useToolModel,
  toolChat,
  withAppTools,
} from '#test/support/tools/tool-world.ts';

const { fakeGemini, model } = await useToolModel();

const refusals = () => fakeGemini.journal().flatMap(({ refusal }) => refusal ?? []);
const caller = { uid: 'u1', tier: 'signedIn' } as const;
const ASKING = 'call locate {"question":"where"}\ncall weather {"city":"Oslo"}\ncall choose';

const output = (index: number, response: Record<string, unknown>): ToolResult => ({
  callId: `t_1_c${index}`,
  kind: 'response',
  response,
});

const answer = (chat: ChatDependencies, conversationId: string, results: ToolResult[]) =>
  answerCalls(chat, {
    caller,
    conversationId,
    turnId: 't_1',
    results,
    locale: undefined,
  });

/** A turn whose model has called functions of the app. */
async function waiting(text = ASKING, environment: Record<string, string> = {}) {
  const { chat, effects } = toolChat(model, { environment });
  const conversationId = randomUUID();
  await withAppTools(chat, conversationId, ['locate', 'choose']);
  return { chat, effects, conversationId, ...(await say(chat, conversationId, text)) };
}

describe('a function of the app', () => {
  test('an app function makes the turn wait, once the server’s tools have run', async () => {
    const { turn, chunks } = await waiting();

    expect(turn.state).toBe('awaiting_tool');
    expect(turnView(turn).openCalls).toEqual([
      { callId: 't_1_c0', name: 'locate', args: { question: 'where' }, wants: 'output' },
      { callId: 't_1_c2', name: 'choose', args: {}, wants: 'output' },
    ]);
    expect(responsesIn(turn.contents)[1]).toMatchObject({ response: { degrees: 21 } });
    expect(chunks.at(-1)).toMatchObject({ type: 'finish', finishReason: 'tool-calls' });
    expect(chunks[1]).not.toHaveProperty('providerExecuted');
  });

  test('an unwatched app call is published each round, and the end after it', async () => {
    const { chat, conversationId } = await waiting('call locate\nthen\ncall choose', {
      FCM_PROJECT: 'demo-recap',
    });

    const first = await answer(chat, conversationId, [output(0, { lat: 1 })]);
    await first.result;
    const last = await answer(chat, conversationId, [output(1, { no: 2 })]);
    await last.result;
    await Promise.all(chat.afterwork);

    const told = { conversationId, turnId: 't_1', attempt: 1, isAttended: false };
    expect(chat.told.map(({ data }) => data)).toMatchObject([
      { type: 'turn.waiting', state: 'awaiting_tool', round: 1, ...told },
      { type: 'turn.waiting', state: 'awaiting_tool', round: 2, ...told },
      { type: 'turn.finished', state: 'done', ...told },
    ]);
  });

  test('an answered app call continues the same attempt with rising ids', async () => {
    const { chat, conversationId, frames } = await waiting();

    const handle = await answer(chat, conversationId, [
      output(0, { lat: 1 }),
      output(2, { no: 2 }),
    ]);
    const more = await collect(handle.frames());

    const { turn } = await handle.result;
    expect(turn).toMatchObject({ state: 'done', attempt: 1 });
    const ids = [...idsOf(frames), ...idsOf(more)];
    expect(ids).toEqual(ids.map((_, i) => i));
    expect(more.map(({ chunk }) => chunk.type).slice(0, 4)).toEqual([
      'start',
      'tool-output-available',
      'tool-output-available',
      'start-step',
    ]);
    expect(responsesIn(turn.contents)).toMatchObject([
      { response: { lat: 1 } },
      { response: { degrees: 21 } },
      { response: { no: 2 } },
    ]);
    expect(refusals()).toEqual([]);
  });

  test('results of two calls that come at once are both kept', async () => {
    const { chat, conversationId } = await waiting();

    await Promise.all([
      answer(chat, conversationId, [output(0, { lat: 1 })]).then(({ result }) => result),
      answer(chat, conversationId, [output(2, { no: 2 })]).then(({ result }) => result),
    ]);

    const turn = await storedTurn(chat, conversationId, 1);
    expect(turn.state).toBe('done');
    expect(JSON.stringify(responsesIn(turn.contents))).toMatch(/"lat":1.*"no":2/);
  });

  test('results that come five times at once let the turn go on once', async () => {
    const { chat, conversationId } = await waiting();
    const results = [output(0, { lat: 1 }), output(2, { no: 2 })];
    const calls = fakeGemini.journal().length;

    const handles = await Promise.all(
      Array.from({ length: 5 }, () => answer(chat, conversationId, results)),
    );
    await Promise.all(handles.map(({ result }) => result));

    expect(fakeGemini.journal()).toHaveLength(calls + 1);
  });

  test.each([
    { what: 'another output', result: output(2, { no: 3 }), reason: 'TOOL_RESULT_CONFLICT' },
    { what: 'an unknown call', result: output(7, {}), reason: 'TOOL_CALL_NOT_FOUND' },
    { what: 'a call of the server', result: output(1, {}), reason: 'TOOL_CALL_NOT_FOUND' },
  ])('an app result is refused: $what', async ({ result, reason }) => {
    const { chat, conversationId } = await waiting();
    await answer(chat, conversationId, [output(2, { no: 2 })]);

    const refused = answer(chat, conversationId, [result]);

    await expect(refused).rejects.toMatchObject({ reason });
  });

  test('an app call expires after its time, and the model learns of it', async () => {
    const { chat, conversationId } = await waiting(ASKING, { TOOL_RESULT_TIMEOUT_MS: '1000' });
    const later = new Date(Date.now() + 2_000);
    const late = { ...chat, clock: { ...chat.clock, now: () => later } };

    const { turn } = await say(late, conversationId, 'Something else.');

    expect(turn.state).toBe('done');
    const before = await storedTurn(chat, conversationId);
    expect(before).toMatchObject({ state: 'cancelled', inContext: true });
    expect(responsesIn(before.contents)[0]).toMatchObject({ response: { error: 'expired' } });
    expect(refusals()).toEqual([]);
  });

  test('an app call overtaken by a new message is in its prompt as whole pairs', async () => {
    const { chat, conversationId } = await waiting();

    const { turn } = await say(chat, conversationId, 'Never mind.');

    expect(turn).toMatchObject({ state: 'done', seq: 2 });
    const asked = JSON.stringify(fakeGemini.requestBody(fakeGemini.journal().at(-1)?.n ?? 0));
    expect(asked).toContain('cancelled_by_user');
    expect(asked).toContain('"degrees":21');
    expect(refusals()).toEqual([]);
    await expect(answer(chat, conversationId, [output(0, { lat: 1 })])).rejects.toMatchObject({
      reason: 'TOOL_RESULT_CONFLICT',
    });
  });
});

describe('a tool of the server that needs the user’s word', () => {
  const approval = (isApproved: boolean): ToolResult => ({
    callId: 't_1_c0',
    kind: 'approval',
    isApproved,
  });

  test('a server tool that needs the user’s approval waits for it, and says so', async () => {
    const { turn, chunks, effects } = await waiting('call transfer {"amount":5}');

    expect(turnView(turn).openCalls).toMatchObject([{ callId: 't_1_c0', wants: 'approved' }]);
    expect(chunks).toContainEqual({
      type: 'data-notice',
      id: 'approval-t_1_c0',
      data: { kind: 'approval', callId: 't_1_c0', toolName: 'transfer' },
    });
    expect(effects.size).toBe(0);
  });

  test.each([
    { isApproved: true, response: { transferred: 5 }, runs: 1 },
    { isApproved: false, response: { error: 'denied_by_user' }, runs: 0 },
  ])(
    'a server tool runs if the approval is given: $isApproved',
    async ({ isApproved, response, runs }) => {
      const { chat, conversationId, effects } = await waiting('call transfer {"amount":5}');

      const { turn } = await (await answer(chat, conversationId, [approval(isApproved)])).result;

      expect(turn.state).toBe('done');
      expect(responsesIn(turn.contents)).toMatchObject([{ response }]);
      expect(effects.size).toBe(runs);
      expect(refusals()).toEqual([]);
    },
  );
});
