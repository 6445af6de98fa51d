import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { showContext } from '#functions/chat/context/show-context.ts';
import { requestCancel } from '#functions/chat/turns/finish/cancel-turn.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { answerCalls } from '#functions/chat/turns/send/answer-calls.ts';
import type { ServerTool } from '#functions/chat/turns/tools/toolbox.ts';
import type { ChatCrashPoint } from '#functions/lib/crash-points.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { findCalls } from '#shared/conversation/context/tool-calls.ts';
import { contentText, answerText } from '#shared/models/content.ts';
import { AppError } from '#shared/lib/errors.ts';
import { turnView } from '#shared/wire/resources/turns.ts';
import { sourcesView } from '#shared/wire/sources.ts';
import { noQuota } from '#test/fakes/no-quota.ts';
import { scriptedStreamer, type ScriptedAnswer } from '#test/fakes/scripted-streamer.ts';
import { caller, answerAll, refusalsOf } from '#test/support/chat/routing.ts';
import { collect, request } from '#test/support/chat/sending.ts';
import { storedTurn, readStream, settle, shownText } from '#test/support/chat/streaming.ts';
import { startModelServer } from '#test/support/processes/model-server.ts';
import {
  sentPrompt,
  responsesIn,
  say,
  toolChat,
  countingTools,
  tool,
  withAppTools,
} from '#test/support/tools/tool-world.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const { server: fakeGemini, model } = await startModelServer();

const refusals = () => fakeGemini.journal().flatMap(({ refusal }) => refusal ?? []);

const responsesOf = async (text: string, environment: Record<string, string> = {}) => {
  const { chat, effects } = toolChat(model, { environment });
  const { turn, chunks } = await say(chat, randomUUID(), text);
  return { turn, chunks, effects, responses: responsesIn(turn.contents) };
};

test('a server tool runs between two model calls, and its output is used', async () => {
  const { turn, effects } = await responsesOf('call weather {"city":"Oslo"}');

  expect(turn.state).toBe('done');
  expect(turn.contents.map(({ role }) => role)).toEqual(['model', 'user', 'model']);
  expect(turn.contents.map(contentText).join('')).toContain('"degrees":21');
  expect([...effects]).toEqual([['t_1:0', 1]]);
  expect(fakeGemini.journal()).toHaveLength(2);
  expect(refusals()).toEqual([]);
});

test('parallel server tools respond in the order of the calls', async () => {
  const { responses, effects } = await responsesOf(
    'call weather {"city":"Oslo"}\ncall hanging\ncall weather {"city":"Rome"}',
  );

  expect(responses).toEqual([
    { name: 'weather', response: { city: 'Oslo', degrees: 21 } },
    { name: 'hanging', response: { error: 'The tool did not answer within 60 ms.' } },
    { name: 'weather', response: { city: 'Rome', degrees: 21 } },
  ]);
  expect([...effects.keys()]).toEqual(['t_1:0', 't_1:2']);
});

test.each([
  { text: 'call broken', error: 'The tool failed.' },

  { text: 'call hanging', error: 'The tool did not answer within 60 ms.' },
  {
    text: 'call nothing',
    error:
      'There is no tool named nothing. There are: weather, broken, refusing, hanging, large, transfer.',
  },
])('a server tool that returns nothing tells the model so: $text', async ({ text, error }) => {
  const { turn, responses, chunks } = await responsesOf(text);

  expect(turn.state).toBe('done');
  expect(responses).toMatchObject([{ response: { error } }]);
  expect(chunks).toContainEqual(
    expect.objectContaining({ type: 'tool-output-error', errorText: error }),
  );
  expect(refusals()).toEqual([]);
});

test('the round limit ends open calls with an error, a notice and a last call without tools', async () => {
  const rounds = ['A', 'B', 'C'].map((city) => `call weather {"city":"${city}"}`);

  const { turn, chunks, effects, responses } = await responsesOf(rounds.join('\nthen\n'), {
    TOOL_ROUNDS: '2',
  });

  expect(turn.state).toBe('done');
  expect(effects.size).toBe(2);
  expect(responses.at(-1)).toMatchObject({
    response: { error: expect.stringContaining('limit of 2 rounds') },
  });
  expect(chunks.at(-3)).toEqual({
    type: 'data-notice',
    id: 'rounds',
    data: { kind: 'rounds', limit: 2 },
  });
  const [first, , , last] = fakeGemini.journal().map(({ n }) => fakeGemini.requestBody(n));
  expect(last).toMatchObject({ toolConfig: { functionCallingConfig: { mode: 'NONE' } } });
  expect(first).not.toHaveProperty('toolConfig');
  // The cached prefix begins with them.
  const { tools } = sentPrompt(first);
  expect(last).toMatchObject({ tools });
  expect(fakeGemini.journal()).toHaveLength(4);
  expect(refusals()).toEqual([]);
});

test('a turn with tools is replayed collapsed and can be resumed from any frame', async () => {
  const { chat } = toolChat(model);
  const conversationId = randomUUID();
  const sent = request(
    conversationId,
    'call weather {"city":"A"}\nthen\ncall weather {"city":"B"}',
  );
  const live = await collect((await sendMessage(chat, sent)).frames());

  const replayed = await collect((await sendMessage(chat, sent)).frames());

  expect(replayed.map(({ chunk }) => chunk.type)).toEqual([
    'start',
    'tool-input-available',
    'tool-output-available',
    'start-step',
    'tool-input-available',
    'tool-output-available',
    'start-step',
    'text-start',
    'text-delta',
    'text-end',
    'data-context',
    'finish',
  ]);
  for (const frame of replayed) {
    if (frame.chunk.type === 'start' || frame.chunk.type === 'data-context') continue;
    const rest = await readStream(chat, { conversationId, cursor: frame.id });
    const after = rest ? await collect(rest) : [];
    expect(after).toEqual(live.filter(({ id }) => id > frame.id));
  }
});

const SHORT_LEASE = { TURN_LEASE_MS: '200' };
const TWO_ROUNDS =
  'call weather {"city":"A"}\nthen\ncall weather {"city":"B"}\ncall weather {"city":"C"}';

/** Instances over one store; what their tools did is counted together. */
function instances() {
  const store = createMemoryDocumentStore();
  const { effects, tools } = countingTools();
  const chat = (overrides: Parameters<typeof toolChat>[1] = {}) =>
    toolChat(model, {
      environment: SHORT_LEASE,
      tools,
      ...overrides,
      overrides: { store, ...overrides.overrides },
    }).chat;
  /** Dies when it passes `point` for the `nth` time: nothing that it begins afterwards ends. */
  const dyingAt = (point: ChatCrashPoint, nth: number) => {
    let passed = 0;
    let isDead = false;
    const never = new Promise<never>(() => undefined);
    return chat({
      overrides: {
        store: { ...store, commit: (writes) => (isDead ? never : store.commit(writes)) },
        atCrashPoint: (reached) => {
          if (reached === point && ++passed === nth) isDead = true;
          return isDead ? never : Promise.resolve();
        },
      },
    });
  };
  return { store, effects, chat, dyingAt };
}

test.each([
  { point: 'tools-ran', nth: 1 },
  { point: 'responses-stored', nth: 1 },
  { point: 'responses-stored', nth: 2 },
] as const)(
  'an instance that dies between round batches is followed by another: $point, $nth',
  async ({ point, nth }) => {
    const world = instances();
    const conversationId = randomUUID();
    const sent = request(conversationId, TWO_ROUNDS);
    await sendMessage(world.dyingAt(point, nth), sent);
    const chat = world.chat();

    const handle = await sendMessage(chat, sent);
    const frames = await collect(handle.frames());
    const { turn } = await handle.result;

    expect(turn).toMatchObject({ state: 'done', attempt: 2 });
    expect(turn.contents.map(({ role }) => role)).toEqual([
      'model',
      'user',
      'model',
      'user',
      'model',
    ]);
    // What ran and was not stored runs again, under the same key; what was stored does not.
    const isLost = point === 'tools-ran';
    const again = isLost ? ['t_1:0'] : [];
    expect(Object.fromEntries(world.effects)).toEqual(
      Object.fromEntries(
        ['t_1:0', 't_1:1', 't_1:2'].map((key) => [key, again.includes(key) ? 2 : 1]),
      ),
    );
    expect(shownText(frames)).toContain('The tools gave');
    expect(refusals()).toEqual([]);
  },
);

/** A tool that runs until the test ends it, and what is known of it. */
function slowTool() {
  const begun = Promise.withResolvers<void>();
  let isStopped = false;
  const slow = tool('slow', {}, (_, { signal }) => {
    begun.resolve();
    signal.addEventListener('abort', () => (isStopped = true));
    return new Promise(() => undefined);
  });
  return { slow, begun: begun.promise, isStopped: () => isStopped };
}

test('a turn stopped while its tools run ends with whole pairs and aborts its tool', async () => {
  const { slow, begun, isStopped } = slowTool();
  const { tools } = countingTools();
  const { chat } = toolChat(model, { tools: [...tools, slow] });
  const conversationId = randomUUID();
  const handle = await sendMessage(
    chat,
    request(conversationId, 'call weather {"city":"Oslo"}\ncall slow'),
  );
  await begun;
  await settle();
  await requestCancel(chat, { conversationId, seq: 1 });

  const { turn } = await handle.result;

  expect(turn).toMatchObject({ state: 'cancelled', inContext: true });
  expect(responsesIn(turn.contents)).toEqual([
    { name: 'weather', response: { city: 'Oslo', degrees: 21 } },
    { name: 'slow', response: { error: 'cancelled_by_user' } },
  ]);
  expect(isStopped()).toBe(true);
  const next = await say(chat, conversationId, 'Go on.');
  expect(next.turn.state).toBe('done');
  expect(refusals()).toEqual([]);
});

/** The frames of a turn that fails, and why. */
async function sayFailing(chat: ChatDependencies, conversationId: string, text: string) {
  const handle = await sendMessage(chat, request(conversationId, text));
  const failure = handle.result.then(
    () => undefined,
    (error: unknown) => (error instanceof AppError ? error.reason : String(error)),
  );
  const frames = await collect(handle.frames());
  return { chunks: frames.map(({ chunk }) => chunk), reason: await failure };
}

/** A quota that has nothing left for a second call of a turn. */
const quotaForOneCall: ChatDependencies['quota'] = {
  ...noQuota,
  reserve: async (turn) => ({
    ...(await noQuota.reserve(turn)),
    renew: () =>
      Promise.reject(
        new AppError({
          status: 'RESOURCE_EXHAUSTED',
          reason: 'USER_DAILY_TOKENS',
          message: 'quota of a test',
          publicMessage: 'No tokens are left for today.',
        }),
      ),
  }),
};

const spent = async () => {
  const { chat, effects } = toolChat(model, { overrides: { quota: quotaForOneCall } });
  const conversationId = randomUUID();
  const end = await sayFailing(chat, conversationId, 'call weather {"city":"Oslo"}');
  return { chat, effects, conversationId, ...end };
};

test('a quota exhausted between two rounds keeps tool results for the next message', async () => {
  const { chat, conversationId, effects } = await spent();
  const kept = await storedTurn(chat, conversationId);
  const shown = await showContext(chat, { caller, conversationId });

  const { turn } = await say(chat, conversationId, 'And now?');

  expect(kept).toMatchObject({ state: 'failed', inContext: true });
  expect(responsesIn(kept.contents)).toMatchObject([{ response: { degrees: 21 } }]);
  expect(JSON.stringify(shown.items)).toContain('"degrees":21');
  expect(turn.state).toBe('done');
  expect(effects.get('t_1:0')).toBe(1);
  const sent = JSON.stringify(fakeGemini.requestBody(fakeGemini.journal().at(-1)?.n ?? 0));
  expect(sent).toContain('"degrees":21');
  expect(refusals()).toEqual([]);
});

const OSLO = 'call weather {"city":"Oslo"}';
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
});

const STATE = 'call job_state {"id":7}';
const pending = tool('job_state', { id: z.number() }, () => Promise.resolve({ state: 'pending' }));
const polling = async (tools: readonly ServerTool[]) => {
  const { chat } = toolChat(model, { environment: { LOOP_DETECTION: 'on' }, tools });
  return (await say(chat, randomUUID(), rounds(...times(8, STATE)))).turn;
};

test('a polled tool may repeat itself in as many rounds as there are', async () => {
  const turn = await polling([{ ...pending, polled: true }]);

  expect(turn).toMatchObject({ finishReason: 'STOP', rounds: { count: 8 } });
});

const weather = (i: number) => `call weather {"city":"City ${i}"}`;
const locate = (i: number) => `call locate {"question":"where ${i}"}`;
const many = (count: number, line: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => line(i));
const TOO_MANY = { error: expect.stringContaining('More than 32 calls at once') };

const askedAtOnce = async (lines: readonly string[]) => {
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
])(
  'of 33 calls in a round, %s, 32 run and the last is refused',
  async (_, { lines, ran, waits }) => {
    const { chat, effects, conversationId, turn, chunks } = await askedAtOnce(lines);

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

const usage = { promptTokens: 100, cachedTokens: 0, outputTokens: 10, thoughtsTokens: 0 };

/** Searches, says what it found, and asks the app where the user is. */
const searching: ScriptedAnswer = {
  chunks: [
    { parts: [{ toolCall: { id: 's1', toolType: 'GOOGLE_SEARCH_WEB' } }] },
    { parts: [{ text: 'Rain comes. ' }] },
    {
      parts: [{ functionCall: { name: 'locate', args: {} } }],
      finishReason: 'STOP',
      usage,
      grounding: {
        sources: [
          { url: 'https://weather.example/', title: 'Weather', claims: [{ text: 'Rain comes.' }] },
        ],
        queries: ['weather'],
      },
    },
  ],
};

const reading: ScriptedAnswer = {
  chunks: [
    { parts: [{ text: 'Take tram 12.' }] },
    {
      parts: [],
      finishReason: 'STOP',
      usage,
      grounding: {
        sources: [
          { url: 'https://trams.example/', title: 'Trams', claims: [{ text: 'Take tram 12.' }] },
        ],
        queries: ['trams'],
      },
    },
  ],
};

async function waiting() {
  const { model: searcher, requests } = scriptedStreamer(searching, reading);
  const { chat } = toolChat(searcher, { environment: { GROUNDING: 'search' } });
  const conversationId = randomUUID();
  await withAppTools(chat, conversationId, ['locate']);
  return { chat, requests, conversationId, ...(await say(chat, conversationId, 'How do I go?')) };
}

test('an answer in two rounds has the sources of both, each at its place in the whole text', async () => {
  const { chat, requests, conversationId } = await waiting();

  const handle = await answerCalls(chat, {
    caller: { uid: 'u1', tier: 'signedIn' },
    conversationId,
    turnId: 't_1',
    results: [{ callId: 't_1_c0', kind: 'response', response: { city: 'Lisbon' } }],
    locale: undefined,
  });
  const { turn } = await handle.result;

  const text = answerText(turn.contents);
  const told = sourcesView(turn).map(({ id, spans = [] }) => [
    id,
    spans.map(({ start, end }) => text.slice(start, end)),
  ]);
  expect(told).toEqual([
    ['s1.1', ['Rain comes.']],
    ['s1.2', ['Take tram 12.']],
  ]);
  expect(turn.usage).toMatchObject({ searches: 2 });
  // While it is answered, the model gets back what it asked Google's tools; afterwards nobody does.
  expect(JSON.stringify(requests[1]?.contents)).toContain('toolCall');
  expect(JSON.stringify(turn.contents)).not.toContain('toolCall');
});
