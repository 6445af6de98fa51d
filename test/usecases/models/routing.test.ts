import { describe, expect, test } from 'vitest';
import {
  createConversation,
  updateConversation,
} from '#functions/chat/conversations/write-conversation.ts';
import { showUsage } from '#functions/chat/routes/usage.ts';
import { parseConfig } from '#functions/config.ts';
import { conversationPolicy } from '#functions/config/conversation-policy.ts';
import { createQuota } from '#functions/quota/create-quota.ts';
import { newConversation } from '#shared/conversation/documents/conversation.ts';
import { turnView } from '#shared/wire/resources/turns.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import {
  CLASSIFIER,
  EASY,
  FAST,
  HARD,
  STRONG,
  ask,
  autoConversation,
  caller,
  callsOf,
  impatientClock,
  routedChat,
} from '#test/support/chat/routing.ts';
import { startModelServer } from '#test/support/processes/model-server.ts';
import { cancelTurn } from '#functions/chat/turns/finish/cancel-turn.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { contentText } from '#shared/models/content.ts';
import { answered, collect, request } from '#test/support/chat/sending.ts';
import { storedTurn } from '#test/support/chat/streaming.ts';
import { recordCommits } from '#test/support/compaction/commit-rules.ts';
import { eventually } from '#test/support/eventually.ts';
import { dyingAt } from '#test/support/stores/dying-at.ts';

const { server, model } = await startModelServer();
const failing = { kind: 'http', code: 400, status: 'INVALID_ARGUMENT' } as const;
const silent = { kind: 'emptyCandidates', shape: 'noParts' } as const;
const ofRouter = { match: { role: 'utility_router' } };

const fast = { choice: 'fast', model: FAST };
const strong = { choice: 'strong', model: STRONG };

describe('a message of an auto conversation', () => {
  test.each([
    ['an easy one by the fast model', EASY, fast],
    ['a hard one by the strong model', HARD, strong],
  ])(
    'an auto conversation’s message is answered as the classifier says: %s',
    async (...[, text, routing]) => {
      const chat = routedChat(model);

      const { turn, frames } = await ask(chat, await autoConversation(chat), text);

      expect(callsOf(server)).toEqual([`utility_router ${CLASSIFIER}`, `chat ${routing.model}`]);
      const chosen = { ...routing, why: 'classifier' };
      expect(turnView(turn).routing).toEqual(chosen);
      expect(frames.at(-1)?.chunk).toMatchObject({
        type: 'finish',
        messageMetadata: { routing: chosen },
      });
    },
  );

  test('an auto conversation’s message is classified with earlier ones, as data', async () => {
    const chat = routedChat(model);
    const id = await autoConversation(chat);
    await ask(chat, id, EASY);
    server.clearJournal();

    await ask(chat, id, 'And of Spain?');

    const [asked] = server.journal();
    const body = JSON.stringify(server.requestBody(asked?.n ?? 0));
    expect(asked?.promptId).toBe('t_2-route');
    expect(body).toContain(EASY);
    expect(body).toContain('responseJsonSchema');
  });

  test('a conversation with a chosen model is not classified', async () => {
    const chat = routedChat(model);
    const id = await autoConversation(chat, { settings: { routing: 'strong' } });

    const { turn } = await ask(chat, id, EASY);

    expect(callsOf(server)).toEqual([`chat ${STRONG}`]);
    expect(turn.routing).toEqual({ ...strong, why: 'rule' });
  });
});

describe('a classifier that gives no choice', () => {
  test.each([
    ['fails', () => server.queueFaults({ ...failing, ...ofRouter })],
    ['says nonsense', () => server.queueFaults({ kind: 'halfText', ...ofRouter })],
    ['says nothing', () => server.queueFaults({ ...silent, ...ofRouter })],
    ['is cut off', () => server.queueFaults({ kind: 'maxTokens', ...ofRouter })],
    ['is blocked', () => server.queueFaults({ kind: 'blockedPrompt', ...ofRouter })],
  ])('a message goes to the default model where the classifier %s', async (...[, spoil]) => {
    const chat = routedChat(model);
    spoil();

    const { turn } = await ask(chat, await autoConversation(chat), HARD);

    expect(turn).toMatchObject({ state: 'done', routing: { ...fast, why: 'default' } });
  });

  test('a message goes to the default model after two seconds of classifier silence', async () => {
    const chat = routedChat(model, { clock: impatientClock });
    server.queueFaults({ kind: 'hang', ...ofRouter });

    const { turn } = await ask(chat, await autoConversation(chat), HARD);

    expect(turn).toMatchObject({ state: 'done', routing: { ...fast, why: 'default' } });
  });

  test('a failing classifier is not called after three times', async () => {
    const chat = routedChat(model, { clock: impatientClock });
    const id = await autoConversation(chat);
    server.queueFaults({ kind: 'hang', ...ofRouter, times: 3 });

    for (const _ of [1, 2, 3, 4]) await ask(chat, id, HARD);

    const asked = callsOf(server).filter((call) => call.startsWith('utility_router'));
    expect(asked).toHaveLength(3);
  });
});

describe('the limits of an auto conversation', () => {
  const windows = { MODEL_WINDOWS: JSON.stringify({ [FAST]: 20_000, [STRONG]: 30_000 }) };

  test('an auto conversation refuses what only fits the larger window, before any call', async () => {
    const chat = routedChat(model, {}, windows);
    const long = `Why? ${'word '.repeat(24_000)}`;

    await expect(ask(chat, await autoConversation(chat), long)).rejects.toMatchObject({
      reason: 'CONTEXT_WINDOW_WILL_OVERFLOW',
      publicMessage: expect.stringContaining('20000'),
    });
    expect(callsOf(server)).toEqual([]);
  });

  test('an auto conversation’s limits keep a reduced window and enlarge none', () => {
    const { config } = routedChat(model, {}, windows);
    const now = new Date();
    const conversation = newConversation({
      epoch: 'e',
      ownerUid: 'u1',
      model: 'auto',
      profile: 'assistant',
      systemInstruction: undefined,
      now,
    });
    const windowOf = (windowTokens: number) =>
      conversationPolicy(config, { ...conversation, settings: { windowTokens } }).windowTokens;

    expect([windowOf(10_000), windowOf(25_000)]).toEqual([10_000, 20_000]);
  });
});

test('a classifier call is billed under its own name, within the daily dollars', async () => {
  const base = routedChat(model, {}, { USER_DAILY_USD: '5' });
  const chat = { ...base, quota: createQuota(base) };

  await ask(chat, await autoConversation(chat), HARD);

  const { routing, titles, limits } = await showUsage(chat, caller);
  expect(routing).toMatchObject({ runs: 1 });
  expect(routing.tokens).toBeGreaterThan(100);
  expect(routing.costMicros).toBeGreaterThan(0);
  expect(titles.runs).toBe(0);
  expect(limits.costMicrosPerDay.used).toBeGreaterThan(routing.costMicros);
});

test('auto without models to choose from is refused with field and remedy', async () => {
  const chat = chatDependencies({ model }, { CLIENT_WRITABLE: 'model' });
  const { conversationId } = await createConversation(chat, { caller, fields: {} });
  const refusal = {
    reason: 'ROUTING_NOT_SET',
    metadata: { field: 'model' },
    publicMessage: expect.stringContaining('ROUTING_MODELS'),
  };

  await expect(autoConversation(chat)).rejects.toMatchObject(refusal);
  await expect(
    updateConversation(chat, { caller, conversationId, patch: { model: 'auto' } }),
  ).rejects.toMatchObject(refusal);
});

test.each([
  ['MODEL', { MODEL: 'auto' }],
  ['ROUTING_MODELS', { ROUTING_MODELS: FAST }],
  ['ROUTING_MODELS', { ROUTING_MODELS: `auto,${STRONG}` }],
  ['QUICK_MODEL', { QUICK_MODEL: 'auto' }],
])('auto without models stops the start: %s, of %j', (...[variable, environment]) => {
  expect(() => parseConfig({ GOOGLE_CLOUD_PROJECT: 'demo-recap', ...environment })).toThrow(
    `${variable}: `,
  );
});

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

test('a routed turn keeps its model when another instance takes it over', async () => {
  const { recorded, chat, dying } = instances();
  const id = await autoConversation(chat());
  const sent = request(id, HARD);
  server.queueFaults({ kind: 'delay', delayMs: 300, match: { role: 'chat' } });
  await sendMessage(dying('answer-streamed'), sent);
  await eventually('the stored choice', async () => (await storedTurn(chat(), id, 1)).routing);
  // Would be easy now.
  server.queueFaults({ kind: 'http', code: 400, match: { role: 'utility_router' }, status: 'X' });

  const turn = await answered(chat(), sent);

  expect(turn).toMatchObject({ attempt: 2, state: 'done', routing: byClassifier });
  expect(callsOf(server)).toEqual([
    `utility_router ${CLASSIFIER}`,
    `chat ${STRONG}`,
    `chat ${STRONG}`,
  ]);
  expect(recorded.brokenRules()).toEqual([]);
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
