import { describe, expect, test } from 'vitest';
import { cancelTurn } from '#functions/chat/turns/finish/cancel-turn.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createToolbox } from '#functions/chat/turns/tools/toolbox.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { regenerate } from '#test/support/chat/replacing.ts';
import {
  CLASSIFIER,
  EASY,
  HARD,
  STRONG,
  ask,
  autoConversation,
  caller,
  callsOf,
  routedChat,
} from '#test/support/chat/routing.ts';
import { collect, request } from '#test/support/chat/sending.ts';
import { queued } from '#test/support/chat/starts.ts';
import { storedTurn } from '#test/support/chat/streaming.ts';
import { recordCommits } from '#test/support/compaction/commit-rules.ts';
import { eventually } from '#test/support/eventually.ts';
import { startModelServer } from '#test/support/processes/model-server.ts';
import { dyingAt } from '#test/support/stores/dying-at.ts';
import { countingTools } from '#test/support/tools/tool-world.ts';

const { server, model } = await startModelServer();
const byClassifier = { choice: 'strong', why: 'classifier', model: STRONG };
const SHORT_LEASE = { TURN_LEASE_MS: '200' };

/** Instances over one store; their commits are checked. */
function instances() {
  const recorded = recordCommits();
  const store = createMemoryDocumentStore({ beforeOperation: recorded.beforeOperation });
  const chat = () => routedChat(model, { store }, SHORT_LEASE);
  const dying = (point: string) => routedChat(model, dyingAt(store, point), SHORT_LEASE);
  return { recorded, chat, dying };
}

describe('a turn that was given its model', () => {
  test('a routed turn keeps its model when another instance takes it over', async () => {
    const { recorded, chat, dying } = instances();
    const id = await autoConversation(chat());
    const sent = request(id, HARD);
    server.queueFaults({ kind: 'delay', delayMs: 300, match: { role: 'chat' } });
    await sendMessage(dying('answer-streamed'), sent);
    await eventually('the stored choice', async () => (await storedTurn(chat(), id, 1)).routing);
    // Would be easy now.
    server.queueFaults({ kind: 'http', code: 400, match: { role: 'utility_router' }, status: 'X' });

    const { turn } = await (await sendMessage(chat(), sent)).result;

    expect(turn).toMatchObject({ attempt: 2, state: 'done', routing: byClassifier });
    expect(callsOf(server)).toEqual([
      `utility_router ${CLASSIFIER}`,
      `chat ${STRONG}`,
      `chat ${STRONG}`,
    ]);
    expect(recorded.brokenRules()).toEqual([]);
  });

  test('a routed turn keeps its model when its answer is regenerated', async () => {
    const chat = routedChat(model);
    const id = await autoConversation(chat);
    await ask(chat, id, HARD);

    const { turn } = await (await sendMessage(chat, regenerate(id, 'm_1'))).result;

    expect(turn.routing).toEqual({ ...byClassifier, why: 'rule' });
    expect(callsOf(server).slice(2)).toEqual([`chat ${STRONG}`]);
  });

  test('a routed turn keeps its model and signatures through every tool round', async () => {
    const { tools } = countingTools();
    const chat = routedChat(model, { toolbox: createToolbox(tools) });
    const id = await autoConversation(chat);
    const rounds = 'call weather {"city":"A"}\nthen\ncall weather {"city":"B"}';

    const { turn } = await ask(chat, id, `Why?\n${rounds}`);

    expect(turn).toMatchObject({ state: 'done', routing: byClassifier });
    const strong = `chat ${STRONG}`;
    expect(callsOf(server)).toEqual([`utility_router ${CLASSIFIER}`, strong, strong, strong]);
    expect(turn.repairs).toBeUndefined();
    expect(server.journal().flatMap(({ refusal }) => refusal ?? [])).toEqual([]);
  });

  test('a routed turn passes its model to an unclassified message with large files', async () => {
    const chat = routedChat(model);
    const id = await autoConversation(chat);
    await ask(chat, id, HARD);
    const sent = request(id, 'And these?');
    const picture = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } };
    const parts = [...sent.message.parts, ...Array.from({ length: 10 }, () => picture)];

    const message = { ...sent.message, parts };
    const { turn } = await (await sendMessage(chat, { ...sent, message })).result;

    expect(turn.routing).toEqual({ ...byClassifier, why: 'rule' });
    expect(callsOf(server).at(-1)).toBe(`chat ${STRONG}`);
  });
});

test('a waiting message is classified when it begins, with what preceded it', async () => {
  const chat = routedChat(model);
  const id = await autoConversation(chat);
  const first = await sendMessage(chat, request(id, HARD));
  const second = await sendMessage(chat, queued(id, EASY));

  const [{ turn: hard }, { turn: easy }] = await Promise.all([first.result, second.result]);

  expect([hard.routing?.choice, easy.routing?.choice]).toEqual(['strong', 'fast']);
  const asked = server.journal().find(({ promptId }) => promptId === 't_2-route');
  expect(JSON.stringify(server.requestBody(asked?.n ?? 0))).toContain(HARD);
});

test('a turn stopped while its model is chosen is cancelled at once, unanswered', async () => {
  const chat = routedChat(model);
  const id = await autoConversation(chat);
  server.queueFaults({ kind: 'hang', match: { role: 'utility_router' } });
  const handle = await sendMessage(chat, request(id, HARD));
  const frames = collect(handle.frames());
  await eventually('the question to the classifier', () => Promise.resolve(server.journal().at(0)));

  const turn = await cancelTurn(chat, { caller, conversationId: id, turnId: 't_1' });

  expect(turn).toMatchObject({ state: 'cancelled', inContext: false });
  expect(turn.contents.map(contentText)).toEqual([]);
  expect((await frames).slice(-2).map(({ chunk }) => chunk.type)).toEqual(['abort', 'finish']);
  expect(callsOf(server)).toEqual([`utility_router ${CLASSIFIER}`]);
});
