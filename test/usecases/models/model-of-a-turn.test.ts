import { updateConversation } from '#functions/chat/conversations/write-conversation.ts';
import { describe, expect, test } from 'vitest';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createToolbox } from '#functions/chat/turns/tools/toolbox.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { turnView } from '#shared/wire/resources/turns.ts';
import {
  FAST,
  HARD,
  STRONG,
  ask,
  autoConversation,
  routedChat,
  answerAll,
  refusalsOf,
  signedCalls,
  caller,
} from '#test/support/chat/routing.ts';
import { answered, request } from '#test/support/chat/sending.ts';
import { recordCommits } from '#test/support/compaction/commit-rules.ts';
import { eventually } from '#test/support/eventually.ts';
import { startModelServer } from '#test/support/processes/model-server.ts';
import { dyingAt } from '#test/support/stores/dying-at.ts';
import { countingTools } from '#test/support/tools/tool-world.ts';

/** Lets another model answer from the next turn on. */
const switchTo = (chat: ChatDependencies, conversationId: string, model: string) =>
  updateConversation(chat, { caller, conversationId, patch: { model } });

const { server, model } = await startModelServer();
const OLD = 'gemini-2.5-flash';
const WEATHER = 'call weather {"city":"Oslo"}';
const tools = [{ name: 'locate', parameters: { type: 'object' as const } }];

/** Instances over one store, whose commits are checked; one of them dies at a point. */
function world() {
  const recorded = recordCommits();
  const store = createMemoryDocumentStore({ beforeOperation: recorded.beforeOperation });
  const toolbox = createToolbox(countingTools().tools);
  const chat = (overrides: Partial<ChatDependencies> = {}) =>
    routedChat(model, { store, toolbox, ...overrides }, { TURN_LEASE_MS: '200' });
  const dying = (point: string) => chat(dyingAt(store, point));
  return { chat: chat(), dying, recorded };
}

describe('a turn that waits for the app', () => {
  test.each([
    [FAST, STRONG, FAST],
    [OLD, STRONG, OLD],
    [FAST, 'auto', FAST],
    ['auto', FAST, STRONG],
  ])(
    'a waiting turn of %s ends with its model after a change to %s',
    async (from, to, answering) => {
      const { chat, recorded } = world();
      const id = await autoConversation(chat, { model: from, tools });
      await ask(chat, id, `${HARD}\n${WEATHER}\ncall locate`);

      await switchTo(chat, id, to);
      const turn = await answerAll(chat, id, 1);

      expect(turnView(turn)).toMatchObject({ state: 'done', model: answering });
      expect(turn.repairs).toBeUndefined();
      const signatures = answering === OLD ? 0 : 1;
      expect(signedCalls(server)).toEqual([`${answering}: 0`, `${answering}: ${signatures}`]);
      expect(refusalsOf(server)).toEqual([]);
      expect(recorded.brokenRules()).toEqual([]);
    },
  );

  test('a waiting turn whose model was removed ends with a successor that reads all', async () => {
    const { chat } = world();
    const id = await autoConversation(chat, { tools });
    await ask(chat, id, `${HARD}\ncall locate`);
    const { store, toolbox } = chat;
    const other = 'gemini-3-pro-preview';
    const later = routedChat(model, { store, toolbox }, { ROUTING_MODELS: `${FAST},${other}` });

    const turn = await answerAll(later, id, 1);
    const next = await ask(later, id, HARD);

    expect(turnView(turn)).toMatchObject({ state: 'done', model: other });
    expect(turn.repairs).toEqual({ signature: 1 });
    expect(turnView(next.turn)).toMatchObject({ state: 'done', model: other });
    expect(signedCalls(server)).toEqual([`${STRONG}: 0`, `${other}: 1`, `${other}: 0`]);
    expect(refusalsOf(server)).toEqual([]);
  });
});

test('a model change applies from the next turn, without the other’s signatures', async () => {
  const { chat } = world();
  const id = await autoConversation(chat, { model: FAST });
  await ask(chat, id, WEATHER);
  await switchTo(chat, id, STRONG);

  const { turn } = await ask(chat, id, WEATHER);

  expect(turnView(turn)).toMatchObject({ state: 'done', model: STRONG });
  expect(signedCalls(server)).toEqual([`${FAST}: 0`, `${FAST}: 1`, `${STRONG}: 0`, `${STRONG}: 1`]);
  expect(turn.repairs).toBeUndefined();
  expect(refusalsOf(server)).toEqual([]);
});

test.each([
  ['calls-stored', FAST, STRONG],
  ['responses-stored', FAST, OLD],
  ['turn-started', FAST, STRONG],
])(
  'a turn whose instance died at %s ends with %s after a change to %s',
  async (point, from, to) => {
    const { chat, dying, recorded } = world();
    const id = await autoConversation(chat, { model: from });
    const sent = request(id, WEATHER);
    await sendMessage(dying(point), sent);
    await eventually('the death', () =>
      Promise.resolve(point === 'turn-started' || server.journal().length > 0 ? true : undefined),
    );
    await switchTo(chat, id, to);

    const turn = await answered(chat, sent);

    expect(turnView(turn)).toMatchObject({ state: 'done', attempt: 2, model: from });
    expect(new Set(server.journal().map((call) => call.model))).toEqual(new Set([from]));
    expect(refusalsOf(server)).toEqual([]);
    expect(recorded.brokenRules()).toEqual([]);
  },
);
