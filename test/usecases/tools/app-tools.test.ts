import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { answerCalls } from '#functions/chat/turns/send/answer-calls.ts';
import { liveTurnKey } from '#functions/chat/turns/live-turn.ts';
import { createToolbox } from '#functions/chat/turns/tools/toolbox.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import type { ToolResult } from '#shared/conversation/context/tool-results.ts';
import { StoreUnavailableError } from '#shared/lib/errors.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import {
  conversationResponse,
  conversationWithContextResponse,
} from '#shared/wire/resources/conversations.ts';
import { answerView } from '#shared/wire/resources/messages.ts';
import { turnView } from '#shared/wire/resources/turns.ts';
import {
  errorOf,
  serveForTest,
  startChatServer,
  createConversation,
  expectClean,
  readAs,
} from '#test/support/chat/chat-server.ts';
import { cancel, collect } from '#test/support/chat/sending.ts';
import { idsOf, storedTurn } from '#test/support/chat/streaming.ts';
import { startModelServer } from '#test/support/processes/model-server.ts';
import {
  responsesIn,
  say,
  toolChat,
  withAppTools,
  appTool,
  countingTools,
} from '#test/support/tools/tool-world.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test, afterAll } from 'vitest';

const { server: fakeGemini, model } = await startModelServer();

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
async function waiting(text = ASKING) {
  const { chat, effects } = toolChat(model);
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
    expect(answerView(turn).openCalls).toEqual(turnView(turn).openCalls);
    expect(responsesIn(turn.contents)[1]).toMatchObject({ response: { degrees: 21 } });
    expect(chunks.at(-1)).toMatchObject({ type: 'finish', finishReason: 'tool-calls' });
    expect(chunks[1]).not.toHaveProperty('providerExecuted');
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

test('a turn that is stopped by another instance while it pauses for the app ends as stopped', async () => {
  const conversationId = randomUUID();
  const { chat: other } = toolChat(model);
  const { chat } = toolChat(model, {
    overrides: {
      store: other.store,
      atCrashPoint: (point) =>
        point === 'before-finish'
          ? cancel(other, conversationId).then(() => undefined)
          : Promise.resolve(),
    },
  });
  await withAppTools(chat, conversationId, ['locate', 'choose']);

  const { turn, chunks } = await say(chat, conversationId, ASKING);

  expect(turn.state).toBe('cancelled');
  expect(chunks.at(-1)).toMatchObject({ type: 'finish', finishReason: 'other' });
  expect(await storedTurn(chat, conversationId, 1)).toMatchObject({ state: 'cancelled' });
});

test('a turn that was stored as paused is told as paused, whatever of its stop and of the store was lost', async () => {
  const conversationId = randomUUID();
  const inner = createMemoryDocumentStore();
  let failingReads = 0;
  const away = () => new StoreUnavailableError({ operation: 'all' });
  const store: DocumentStore = {
    ...inner,
    commit: async (writes) => {
      const times = await inner.commit(writes);
      const isPause = writes.some(
        (write) => write.op === 'update' && write.fields['state'] === 'awaiting_tool',
      );
      if (!isPause) return times;
      // The stop stores nothing: all that there is of it is heard by this instance.
      chat.liveTurns.get(liveTurnKey(conversationId, 1))?.cancel();
      failingReads = 1;
      throw away();
    },
    get: (paths) => (failingReads-- > 0 ? Promise.reject(away()) : inner.get(paths)),
  };
  const { chat } = toolChat(model, { overrides: { store } });
  await withAppTools(chat, conversationId, ['locate', 'choose']);

  const { turn, chunks } = await say(chat, conversationId, ASKING);

  expect(turn.state).toBe('awaiting_tool');
  expect(chunks.at(-1)).toMatchObject({ type: 'finish', finishReason: 'tool-calls' });
  expect(await storedTurn(chat, conversationId, 1)).toMatchObject({ state: 'awaiting_tool' });
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

const chat = await startChatServer({
  overrides: { toolbox: createToolbox(countingTools().tools) },
  environment: { CLIENT_WRITABLE: 'tools' },
});
afterAll(() => chat.stop());

const locate = appTool('locate');
const parameters = { type: 'object' };
const named = (name: string) => ({ name, parameters });

const patch = (id: string, body: object, mask = '') =>
  chat.call(`/v1/conversations/${id}${mask}`, { method: 'PATCH', body });
const read = async (id: string) =>
  readAs(conversationWithContextResponse, await chat.call(`/v1/conversations/${id}`));

test('a conversation’s tools are declared when it is created and shown as sent', async () => {
  const tools = [{ ...locate, needsApproval: true }, named('choose')];

  const created = await createConversation(chat, { body: { tools } });

  expect(created.tools).toEqual(tools);
  expect((await read(created.id)).tools).toEqual(tools);
});

test.each([
  ['an empty list', { tools: [] }, ''],
  ['the mask alone', {}, '?updateMask=tools'],
])('a conversation’s tools are removed by %s', async (_, body, mask) => {
  const { id } = await createConversation(chat, { body: { tools: [locate] } });

  const changed = await readAs(conversationResponse, await patch(id, body, mask));

  expect(changed).not.toHaveProperty('tools');
  expect(await read(id)).not.toHaveProperty('tools');
});

const many = Array.from({ length: 33 }, (_, i) => named(`tool_${i}`));
/** Half as many characters as there may be bytes, of two bytes each. */
const wide = { ...locate, description: 'ö'.repeat(8 * 1024) };

const refused: [string, unknown, string][] = [
  ['a name that begins with a digit', [named('1st')], 'BAD_FIELD'],
  ['a name that ends a line', [named('locate\n')], 'BAD_FIELD'],
  ['no parameters', [{ name: 'locate' }], 'BAD_FIELD'],
  ['two tools of one name', [locate, locate], 'BAD_FIELD'],
  ['33 tools', many, 'BAD_FIELD'],
  ['more than 16 KiB in fewer characters', [wide], 'BAD_FIELD'],
  ['the name of a tool of the server', [locate, named('weather')], 'TOOL_NAME_TAKEN'],
];

test.each(refused)(
  'invalid tools of a new conversation are refused: %s',
  async (_, tools, reason) => {
    const error = await errorOf(await chat.call('/v1/conversations', { body: { tools } }));

    expect(error).toMatchObject({ http: 400, reason });
    expectClean(error);
  },
);

test('tools are refused where the deployment does not list them', async () => {
  const closed = await serveForTest();

  const error = await errorOf(
    await closed.call('/v1/conversations', { body: { tools: [locate] } }),
  );

  expect(error).toMatchObject({ http: 400, reason: 'FIELD_NOT_WRITABLE' });
});
