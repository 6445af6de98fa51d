import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createConversation } from '#functions/chat/conversations/write-conversation.ts';
import { createToolbox } from '#functions/chat/turns/tools/toolbox.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import {
  ask,
  autoConversation,
  caller,
  routedChat,
  answerAll,
  refusalsOf,
  signedCalls,
  afterShutdown,
} from '#test/support/chat/routing.ts';
import { storedTurn } from '#test/support/chat/streaming.ts';
import {
  buildDue,
  compactOnce,
  see,
  compactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { configOf } from '#test/support/chat/lifecycle.ts';
import { startModelServer } from '#test/support/processes/model-server.ts';
import { countingTools } from '#test/support/tools/tool-world.ts';

const RETIRED = 'gemini-2.5-pro';
const SUCCESSOR = 'gemini-3.8-flash';
const WEATHER = 'call weather {"city":"Oslo"}';
const tools = [{ name: 'locate', parameters: { type: 'object' as const } }];

function world(environment: Record<string, string> = {}) {
  const { model, requests } = scriptedStreamer(textAnswer('Fine.'));
  const base = chatDependencies(
    { model },
    { CLIENT_WRITABLE: 'model,routing', TITLES: 'off', ...environment },
  );
  const { config, warned } = afterShutdown(base.config);
  return { chat: { ...base, config }, requests, warned };
}

async function conversation({ chat }: ReturnType<typeof world>, model: string): Promise<string> {
  const id = randomUUID();
  await createConversation(chat, { caller, id, fields: { model } });
  return id;
}

test('a retired model’s conversation is answered by the successor and keeps its model', async () => {
  const on = world();
  const id = await conversation(on, RETIRED);

  const { turn } = await ask(on.chat, id, 'Hello');

  expect(on.requests.map(({ model }) => model)).toEqual([SUCCESSOR]);
  expect(turn.model).toBe(SUCCESSOR);
  expect((await storedTurn(on.chat, id)).model).toBe(SUCCESSOR);
  expect((await readConversation(on.chat.store, id))?.value.model).toBe(RETIRED);
});

test('a retired model is warned of once, however many messages come', async () => {
  const on = world();
  const id = await conversation(on, RETIRED);

  await ask(on.chat, id, 'Hello');
  await ask(on.chat, id, 'And again');
  await ask(on.chat, await conversation(on, RETIRED), 'Elsewhere');

  expect(on.warned).toEqual([
    {
      severity: 'WARNING',
      event: 'model_retired',
      fields: { model: RETIRED, successor: SUCCESSOR, date: '2026-12-01' },
    },
  ]);
});

/** Signs its calls, as every model since Gemini 3. */
const SIGNING = 'gemini-3-pro-preview';

test('a turn begun before a shutdown continues with the successor, without unreadable signatures', async () => {
  const { server, model } = await startModelServer();
  const toolbox = createToolbox(countingTools().tools);
  const before = routedChat(model, { toolbox });
  const { config } = afterShutdown(before.config);
  const id = await autoConversation(before, { model: SIGNING, tools });
  await ask(before, id, `${WEATHER}\ncall locate`);

  await answerAll({ ...before, config }, id, 1);

  const turn = await storedTurn(before, id);
  expect(turn).toMatchObject({
    state: 'done',
    model: 'gemini-3.1-pro-preview',
    repairs: { signature: 1 },
  });
  expect(signedCalls(server)).toEqual([`${SIGNING}: 0`, 'gemini-3.1-pro-preview: 1']);
  expect(refusalsOf(server)).toEqual([]);
});

test.each([
  ['of its conversation', {}, 'gemini-2.5-flash', 'gemini-3.5-flash-lite'],
  [
    'of the deployment',
    { COMPRESSOR_MODEL: 'gemini-3-pro-preview' },
    'house-model',
    'gemini-3.1-pro-preview',
  ],
])('a compaction by the retired model %s calls its successor', async (...row) => {
  const [, environment, model, successor] = row;
  const { config } = afterShutdown(configOf('ledger', environment));
  const bench = compactionBench({ config });
  const id = await buildDue(bench, {
    conversation: { model, settings: { thresholdTokens: 1_000 } },
  });

  await compactOnce(bench, id);

  const seen = await see(bench.store, id);
  expect(seen.history?.model).toBe(successor);
  expect(seen.conversation.model).toBe(model);
});
