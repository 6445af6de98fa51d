import { AppError } from '#shared/lib/errors.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { tool, ToolError } from '#functions/app.ts';
import { BUILT_IN_TOOL_NAMES } from '#functions/config/environment.ts';
import { findApp, defineRecap } from '#functions/define-recap.ts';
import { contentText } from '#shared/models/content.ts';
import { contextResponse } from '#shared/wire/resources/context.ts';
import { type ScriptedAnswer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { startLocalApp } from '#test/support/chat/local-app.ts';

/* Backends of apps, over HTTP: both functions in one process, over a store and a bus in memory. */

const callOf = (name: string, args: Record<string, unknown>): ScriptedAnswer => ({
  chunks: [
    { parts: [{ functionCall: { name, args } }] },
    {
      parts: [],
      finishReason: 'STOP',
      usage: { promptTokens: 10, cachedTokens: 0, outputTokens: 2, thoughtsTokens: 0 },
    },
  ],
});

type Setup = Parameters<typeof startLocalApp>[0];

const startApp = (setup: Setup) => startLocalApp({ answers: [textAnswer('Fine.')], ...setup });

/** As an app in JavaScript may give it. */
const untyped = (value: unknown): never => value as never;

describe('a tool of an app', () => {
  const seen: unknown[] = [];
  const weather = tool({
    name: 'weather',
    description: 'The weather at a place.',
    input: z.object({ place: z.string() }),
    run: ({ place }, { user, callId }) => {
      seen.push({ place, plan: user.claims['plan'], uid: user.uid, callId });
      if (place === 'Atlantis') throw new ToolError('Nobody knows that place.');
      return `Snow in ${place}`;
    },
  });

  test('an app’s tool runs with checked input and the claims of the user, and its result is what the model answers from', async () => {
    const { send, requests } = await startApp({
      app: { tools: [weather] },
      answers: [callOf('weather', { place: 'Bern' }), textAnswer('It snows.')],
    });

    const answer = await send(randomUUID(), 'How is it in Bern?', { plan: 'gold' });

    expect(answer).toMatchObject({
      status: 200,
      body: {
        message: {
          parts: expect.arrayContaining([expect.objectContaining({ text: 'It snows.' })]),
        },
      },
    });
    expect(seen).toEqual([{ place: 'Bern', plan: 'gold', uid: 'ada', callId: 't_1:0' }]);
    expect(JSON.stringify(requests[1]?.contents.at(-1))).toContain('{"output":"Snow in Bern"}');
    expect(requests[0]?.tools).toContainEqual(expect.objectContaining({ name: 'weather' }));
  });

  test('a ToolError of an app is told to the model in its words, and input that does not fit without a run', async () => {
    const { send, requests } = await startApp({
      app: { tools: [weather] },
      answers: [
        callOf('weather', { place: 'Atlantis' }),
        callOf('weather', { town: 'Bern' }),
        textAnswer('I do not know.'),
      ],
    });

    await send(randomUUID(), 'How is it in Atlantis?');

    expect(JSON.stringify(requests[1]?.contents.at(-1))).toContain('Nobody knows that place.');
    expect(JSON.stringify(requests[2]?.contents.at(-1))).toContain('do not fit');
  });
});

test.each([
  ['a text', () => 'Fine.', 'ok'],
  ['more than a mebibyte', () => 'x'.repeat(1024 * 1024), 'tooLarge'],
  ['a number that JSON has no form for', () => 1n, 'notJson'],
])(
  'a call of an app’s tool that gives %s is logged as what became of it',
  async (_, run, outcome) => {
    const given = tool({ name: 'given', description: 'Gives.', input: z.object({}), run });
    const { send, logged } = await startApp({
      app: { tools: [given] },
      answers: [callOf('given', {}), textAnswer('Well.')],
    });

    await send(randomUUID(), 'What is given?');

    expect(logged.filter(({ event }) => event === 'tool_called')).toMatchObject([
      { fields: { tool: 'given', outcome } },
    ]);
  },
);

test('an app’s instruction is made of the user’s claims at each turn, and the conversation keeps the last one', async () => {
  const { send, call, requests } = await startApp({
    app: { systemInstruction: ({ user }) => `The user's plan: ${String(user.claims['plan'])}.` },
  });
  const id = randomUUID();

  await send(id, 'Hello', { plan: 'gold' });
  await send(id, 'Hello again', { plan: 'silver' });

  expect(requests.map(({ systemInstruction }) => systemInstruction)).toEqual([
    "The user's plan: gold.",
    "The user's plan: silver.",
  ]);
  const context = contextResponse.parse(await (await call(`/${id}/context`)).json());
  expect(JSON.stringify(context.items)).toContain('silver');
});

test.each<[string, () => string, string?]>([
  [
    'throws',
    () => {
      throw new Error('no database');
    },
  ],
  ['is longer than half of the window', () => 'word '.repeat(600_000)],
  ['is longer than can be stored', () => 'word '.repeat(40_001)],
  ['holds half of a surrogate pair', () => 'Be kind \ud83d'],
  [
    'is no text, as an app in JavaScript may give it',
    () => untyped(null),
    'systemInstruction returned null',
  ],
])('an app’s instruction that %s is logged, and the last one stays', async (_, bad, problem) => {
  let turns = 0;
  const { send, requests, logged } = await startApp({
    app: { systemInstruction: () => (++turns === 1 ? 'Be kind.' : bad()) },
  });
  const id = randomUUID();

  await send(id, 'Hello');
  await send(id, 'Hello again');

  expect(requests.map(({ systemInstruction }) => systemInstruction)).toEqual([
    'Be kind.',
    'Be kind.',
  ]);
  const failure = logged.find(({ event }) => event === 'system_instruction_failed');
  expect(JSON.stringify(failure)).toContain(problem ?? 'system_instruction_failed');
});

describe('the step of an app before a turn', () => {
  test('what beforeTurn finds is said to the model, from the message and the turns before it, without what an edit or an answer made anew replaces', async () => {
    const { call, requests } = await startApp({
      app: {
        beforeTurn: async ({ message, history, user }) => ({
          context: `${user.uid} asked ${message.text} after ${(await history()).map(({ user: said, answer }) => `${said} → ${answer}`).join()}.`,
        }),
      },
    });
    const id = randomUUID();
    const messageOf = (text: string) => ({ id: randomUUID(), parts: [{ type: 'text', text }] });
    const anew = randomUUID();

    await call(`/${id}/messages`, { body: { message: messageOf('One?') } });
    await call(`/${id}/messages`, { body: { message: messageOf('Two?') } });
    await call(`/${id}/messages/m_2:regenerate`, { body: { id: anew } });
    await call(`/${id}/messages/${anew}:edit`, { body: { message: messageOf('Other?') } });

    expect(
      requests.map(
        ({ contents }) => /\| .* asked .*\./.exec(contentText(contents.at(-1) ?? untyped({})))?.[0],
      ),
    ).toEqual([
      '| ada asked One? after .',
      '| ada asked Two? after One? → Fine..',
      '| ada asked Two? after One? → Fine..',
      '| ada asked Other? after One? → Fine..',
    ]);
  });

  test('beforeTurn may refuse a message in its own words, or choose the model of one turn', async () => {
    const { send, requests } = await startApp({
      app: {
        beforeTurn: ({ message: { text } }) =>
          text === 'No' ? { deny: 'Not today.' } : { model: 'gemini-3.1-pro-preview' },
      },
    });
    const id = randomUUID();

    const refused = await send(id, 'No');
    await send(id, 'Yes');

    expect(refused).toMatchObject({ status: 400, body: { error: { message: 'Not today.' } } });
    expect(requests.map(({ model }) => model)).toEqual(['gemini-3.1-pro-preview']);
  });

  test('a message that failed is answered by the model that beforeTurn chose when it is sent again', async () => {
    const overloaded = new AppError({ reason: 'MODEL_OVERLOADED', publicMessage: 'Later.' });
    const { call, requests } = await startApp({
      app: { beforeTurn: () => ({ model: 'gemini-3.1-pro-preview' }) },
      answers: [{ error: overloaded }, textAnswer('Fine.')],
    });
    const path = `/${randomUUID()}/messages`;
    const body = { message: { id: randomUUID(), parts: [{ type: 'text', text: 'Hello' }] } };

    expect((await call(path, { body })).status).toBe(503);
    // The failure asks for a wait.
    const sendAgain = async () => (await call(path, { body })).status;
    await expect.poll(sendAgain, { timeout: 20_000 }).toBe(200);

    expect(requests.map(({ model }) => model)).toEqual([
      'gemini-3.1-pro-preview',
      'gemini-3.1-pro-preview',
    ]);
  });

  test('a refusal of beforeTurn with too many words is a refusal still', async () => {
    const { send, requests } = await startApp({
      app: { beforeTurn: () => ({ deny: `${'x'.repeat(499)}😀 and more` }) },
    });

    expect(await send(randomUUID(), 'No')).toMatchObject({
      status: 400,
      body: { error: { message: 'x'.repeat(499) } },
    });
    expect(requests).toEqual([]);
  });
});

describe('the tools that beforeTurn chooses', () => {
  const ran: string[] = [];
  const named = (name: string, needsApproval = false) =>
    tool({
      name,
      description: `Does ${name}.`,
      input: z.object({}),
      needsApproval,
      run: () => void ran.push(name),
    });
  const [look, pay] = [named('look'), named('pay', true)];
  const offered = ({ tools = [] }: { tools?: readonly { name: string }[] | undefined } = {}) =>
    tools.map(({ name }) => name).filter((name) => ['look', 'pay'].includes(name));

  test('are all that the model is offered of the app’s in that turn, and all that it may call', async () => {
    const { send, requests } = await startApp({
      app: {
        tools: [look, pay],
        beforeTurn: ({ message: { text } }) => (text === 'Look' ? { tools: [look] } : undefined),
      },
      answers: [callOf('pay', {}), textAnswer('I cannot.'), textAnswer('Fine.')],
    });
    const id = randomUUID();

    await send(id, 'Look');
    await send(id, 'Anything');

    expect(requests.map(offered)).toEqual([['look'], ['look'], ['look', 'pay']]);
    expect(requests[0]?.tools).toContainEqual(expect.objectContaining({ name: 'save_memory' }));
    expect(JSON.stringify(requests[1]?.contents.at(-1))).toContain('There is no tool named pay.');
  });

  test('hold when the user allows a call, on whichever instance goes on with the turn', async () => {
    const asking = await startApp({
      app: { tools: [look, pay], beforeTurn: () => ({ tools: ['pay'] }) },
      answers: [callOf('pay', {})],
    });
    const other = await startApp({
      app: { tools: [look, pay], beforeTurn: { run: () => untyped('broken'), required: true } },
      store: asking.host.store,
      answers: [textAnswer('Paid.')],
    });
    const id = randomUUID();

    await asking.send(id, 'Pay');
    const result = await other.call(`/${id}/turns/t_1/toolResults`, {
      body: { results: [{ callId: 't_1_c0', approved: true }] },
    });

    expect(result.status).toBe(200);
    expect(ran).toEqual(['pay']);
    expect(other.requests.map(offered)).toEqual([['pay']]);
  });

  test('none chosen: the model is offered no tool of the app', async () => {
    const { send, requests } = await startApp({
      app: { tools: [look, pay], beforeTurn: () => ({ tools: [] }) },
    });

    await send(randomUUID(), 'Hello');

    expect(requests.map(offered)).toEqual([[]]);
  });
});

describe('what an app’s step returns and may not', () => {
  test.each<[string, unknown, string]>([
    ['a text', 'The context.', 'expected object, received string'],
    ['a list', ['The context.'], 'expected object, received array'],
    ['a field that nobody knows', { contxt: 'secret words' }, '"contxt"'],
    ['another type', { context: ['secret words'] }, 'context: Invalid input: expected string'],
    ['a context that is too long', { context: 'x'.repeat(8_193) }, 'context: Too big'],
    ['a refusal without words', { deny: '' }, 'deny: Too small'],
    ['a model that nobody knows', { model: 'gemini-99' }, '`model` names no model that is known'],
    ['a tool that is not the app’s', { tools: ['wether'] }, 'tools.0: is none of the tools'],
  ])(
    'beforeTurn that returns %s fails as it is declared to, and the log names the field',
    async (_, given, problem) => {
      const run = () => untyped(given);
      const free = await startApp({ app: { beforeTurn: run } });
      const required = await startApp({ app: { beforeTurn: { run, required: true } } });

      expect(await free.send(randomUUID(), 'Hello')).toMatchObject({ status: 200 });
      expect(await required.send(randomUUID(), 'Hello')).toMatchObject({
        status: 503,
        body: {
          error: {
            details: expect.arrayContaining([expect.objectContaining({ reason: 'HOOK_FAILED' })]),
          },
        },
      });
      expect(free.logged.filter(({ event }) => event === 'before_turn_hook_failed')).toMatchObject([
        { fields: { hook: 'beforeTurn', problem: expect.stringContaining(problem) } },
      ]);
      expect(JSON.stringify(free.logged)).not.toContain('secret words');
    },
  );

  test('a tool whose needsApproval says nothing asks the user', async () => {
    const pay = tool({
      name: 'pay',
      description: 'Pays.',
      input: z.object({}),
      needsApproval: () => untyped(undefined),
      run: () => 'Paid.',
    });
    const { send } = await startApp({ app: { tools: [pay] }, answers: [callOf('pay', {})] });

    expect(await send(randomUUID(), 'Pay')).toMatchObject({
      body: { turn: { openCalls: [{ wants: 'approved' }] } },
    });
  });
});

/** As much as a prompt of the conversation has by then. */
const gifts = Array.from({ length: 16 }, (_, turn) =>
  textAnswer(`Fine. ${'It is a gift and should look like one. '.repeat(10)}`, {
    promptTokens: 300 + 110 * turn,
    cachedTokens: 0,
    outputTokens: 100,
    thoughtsTokens: 0,
  }),
);

test('an app reads the turns that a compaction folds, pins of them, and is told how it ended', async () => {
  const told: unknown[] = [];
  const { send, call, host } = await startApp({
    app: {
      beforeCompaction: ({ turns, uid }) => {
        told.push({ uid, first: turns[0]?.user });
        return { pins: [{ id: 'first', text: turns[0]?.answer ?? '' }] };
      },
      afterCompaction: ({ state, generation }) => void told.push({ state, generation }),
    },
    settings: { THRESHOLD_TOKENS: '1000' },
    answers: gifts,
  });
  const id = randomUUID();

  for (let turn = 1; turn <= 16; turn++) await send(id, `Question ${turn}?`);
  await host.bus.idle();

  expect(told.slice(0, 2)).toEqual([
    { uid: 'ada', first: 'Question 1?' },
    { state: 'COMPACTED', generation: 0 },
  ]);
  const context = contextResponse.parse(await (await call(`/${id}/context`)).json());
  expect(context.generation).toBeGreaterThan(0);
  expect(JSON.stringify(context.items)).toContain('It is a gift');
});

test('beforeCompaction that returns what it may not is named in the log, and the compaction goes on', async () => {
  const { send, call, logged, host } = await startApp({
    app: { beforeCompaction: () => untyped({ pin: [] }) },
    settings: { THRESHOLD_TOKENS: '1000' },
    answers: gifts,
  });
  const id = randomUUID();

  for (let turn = 1; turn <= 16; turn++) await send(id, `Question ${turn}?`);
  await host.bus.idle();

  expect(logged.find(({ event }) => event === 'compaction_hook_failed')).toMatchObject({
    fields: { problem: expect.stringMatching(/beforeCompaction returned .*"pin"/) },
  });
  const context = contextResponse.parse(await (await call(`/${id}/context`)).json());
  expect(context.generation).toBeGreaterThan(0);
});

describe('defineRecap', () => {
  test('gives the functions of an app, and begins nothing before they are called', () => {
    const app = { systemInstruction: 'Be kind.' };

    const { chat, compaction } = defineRecap(app);

    expect(findApp(chat)).toBe(app);
    expect(findApp(compaction)).toBe(app);
  });

  test('refuses what it does not know, and tools that no model could call, by name', () => {
    const weather = tool({ name: 'weather', description: '', input: z.object({}), run: () => 1 });
    const typo: object = { tool: [] };

    expect(() => defineRecap(typo)).toThrow(
      /does not know tool; it takes model, systemInstruction, tools/,
    );
    expect(() => defineRecap(Object.fromEntries([['toString', 1]]))).toThrow(/know toString;/);
    expect(() => defineRecap({ tools: [weather, weather] })).toThrow(
      /two server tools named "weather"/,
    );
    expect(() => defineRecap({ tools: [{ ...weather, name: 'wet weather' }] })).toThrow(
      /"wet weather"/,
    );
    for (const name of BUILT_IN_TOOL_NAMES)
      expect(() => defineRecap({ tools: [weather, { ...weather, name }] })).toThrow(
        `tools[1].name: Recap brings along a tool named "${name}"; give this one another name`,
      );
  });
});
