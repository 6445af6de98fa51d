import { createToolbox } from '#functions/chat/turns/tools/toolbox.ts';
import { newConversation } from '#shared/conversation/documents/conversation.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/lib/errors.ts';
import { snapshotAnswer } from '#test/fakes/scripted-model.ts';
import { CLASSIFIER, FAST, STRONG } from '#test/support/chat/routing.ts';
import { answered, request } from '#test/support/chat/sending.ts';
import { autoRequest } from '#test/support/compaction/compacted-conversation.ts';
import { GOOD, log } from '#test/support/compaction/condensing.ts';
import {
  buildConversation,
  type ConversationToBuild,
} from '#test/support/compaction/conversation-builder.ts';
import { meteredWorld, type MeteredOptions, type MeteredWorld } from './metered-world.ts';
import { tool } from '#test/support/tools/tool-world.ts';
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

/*
 * One world over both ports of the model. Whoever adds a kind of call adds it here: the places that call a model are
 * counted below, and each call is looked for in the books while it runs and after it.
 */

interface Kind {
  /** What of the calls says that this kind was among them. */
  call: RegExp;
  options?: Partial<MeteredOptions>;
  run: (world: MeteredWorld) => Promise<void>;
}

const RICH = '1000';
const RICH_MICROS = 1_000_000_000;
const CONVERSATION = 'talk-1';

/** Sends a message, and waits for all that comes of it. */
async function say(world: MeteredWorld, text = 'Where to go in May?', model?: string) {
  const { store, chat, clock } = world;
  const conversation = {
    ...newConversation({
      epoch: 'e',
      ownerUid: 'u1',
      model: model ?? 'house-model',
      profile: 'assistant',
      systemInstruction: undefined,
      now: clock.now(),
    }),
    // A title comes of its own test.
    ...(chat.config.TITLES === 'off' && { title: 'Busan' }),
  };
  await store.commit([
    { op: 'create', path: conversationPath(CONVERSATION), fields: { ...conversation } },
  ]);
  await answered(chat, request(CONVERSATION, text));
  await Promise.all(chat.afterwork);
}

/** Has a conversation compacted that is over its threshold. */
async function compact(world: MeteredWorld, options: Partial<ConversationToBuild> = {}) {
  const { conversationId } = await buildConversation(world.store, {
    turns: 20,
    ...options,
    conversation: {
      model: 'house-model',
      settings: { thresholdTokens: 1_000 },
      compactionRequests: autoRequest(),
      ...options.conversation,
    },
  });
  world.ask(conversationId);
  await world.deliver();
}

const readsLog: Partial<MeteredOptions> = {
  environment: { CONDENSE_TOOL_OUTPUTS: 'on' },
  overrides: {
    toolbox: createToolbox([
      tool('read_log', {}, () => Promise.resolve({ output: log('alpha', 2_500), code: 0 })),
    ]),
  },
  say: ({ promptId, contents }) => {
    if (promptId.includes('-condense-')) return [{ text: GOOD }];
    return contents.length > 1
      ? [{ text: 'I read it.' }]
      : [{ functionCall: { name: 'read_log', args: {} } }];
  },
};

const missing = new AppError({
  status: 'NOT_FOUND',
  reason: 'MODEL_UNKNOWN',
  message: 'no such model',
  publicMessage: 'There is no such model.',
});

const kinds: Readonly<Record<string, Kind>> = {
  'an answer': { call: /^chat t_1/, run: (world) => say(world) },
  'an answer after a tool': {
    call: /^chat t_1.*(?:\n.*)*\nchat t_1/,
    options: { ...readsLog, environment: {} },
    run: (world) => say(world),
  },
  'a title': {
    call: /^utility_title t_1-title$/m,
    options: { environment: { TITLES: 'on' } },
    run: (world) => say(world),
  },
  'the choice of a model': {
    call: /^utility_router t_1-route$/m,
    options: {
      environment: {
        ROUTING_MODELS: `${FAST},${STRONG}`,
        QUICK_MODEL: CLASSIFIER,
      },
    },
    run: (world) => say(world, 'Where to go in May?', 'auto'),
  },
  'a tool output that is condensed at once': {
    call: /^utility_compressor t_1-condense-1$/m,
    options: readsLog,
    run: (world) => say(world),
  },
  'a draft of a compaction': { call: /^utility_compressor request-1$/m, run: (w) => compact(w) },
  'a draft in several pieces': {
    call: /^utility_compressor request-1-2$/m,
    options: { environment: { MODEL_WINDOWS: '{"house-model":8000}' } },
    run: (world) =>
      compact(world, { turns: 80, conversation: { settings: { thresholdTokens: 1_000 } } }),
  },
  'both passes of Gemini CLI’s algorithm': {
    call: /^utility_compressor request-1\nutility_compressor request-1-verify$/m,
    options: { environment: { SUMMARY_STRATEGY: 'gemini-cli' } },
    run: (world) => compact(world),
  },
  'a summariser in the place of one that is not there': {
    call: /^utility_compressor request-1\nutility_compressor request-1$/m,
    options: {
      environment: {
        COMPRESSOR_MODEL: 'other-model',
        MODEL_WINDOWS: '{"other-model":1048576}',
      },
      summaries: [missing, snapshotAnswer()],
    },
    run: (world) => compact(world),
  },
};

const worldOf = ({ options }: Kind, usd: string) =>
  meteredWorld({
    ...options,
    environment: {
      BUILT_IN_TOOLS: 'read_blob',
      ...options?.environment,
      USER_DAILY_USD: usd,
      GLOBAL_DAILY_USD: usd,
    },
  });

const said = ({ calls }: MeteredWorld) =>
  calls.map(({ role, promptId }) => `${role} ${promptId}`).join('\n');

describe.each(Object.entries(kinds))('%s', (_, kind) => {
  test('a model call’s cost is reserved before it and settled after it', async () => {
    const world = worldOf(kind, RICH);

    await kind.run(world);

    expect(said(world)).toMatch(kind.call);
    expect(world.unheld).toEqual([]);
    const { usage, all } = await world.books();
    expect({ open: usage.open, held: usage.held, heldMicros: all.heldMicros }).toEqual({
      open: [],
      held: [],
      heldMicros: 0,
    });
    const works = [usage.compactions, usage.titles, usage.routing, usage.condensing];
    const bookedMicros = works.reduce((sum, work) => sum + work.costMicros, usage.costMicros);
    expect(Math.max(...works.map(({ runs }) => runs))).toBeLessThanOrEqual(1);
    expect(bookedMicros).toBe(world.spentMicros());
    expect(all.costMicros).toBe(world.spentMicros());
    expect(world.spentMicros()).toBeGreaterThan(0);
  });

  test.each([
    ['the user', { user: RICH_MICROS }],
    ['all users', { all: RICH_MICROS }],
  ])('a model call is not made where %s have spent the day’s dollars', async (_who, before) => {
    const world = worldOf(kind, RICH);
    await world.spendBefore(before);

    await kind.run(world).catch((error: unknown) => {
      if (!(error instanceof AppError)) throw error;
    });

    expect(said(world)).toBe('');
  });
});

test('no other place in the code calls a model', () => {
  const places = globSync('functions/src/**/*.ts')
    .filter((path) => !path.includes('/adapters/'))
    .filter((path) =>
      /\bmodel\s*\.(?:stream|generate)\(|\bgenerateLogged\(/.test(readFileSync(path, 'utf8')),
    )
    .toSorted();

  expect(places).toEqual([
    'functions/src/chat/features/auxiliary-model-call.ts',
    'functions/src/chat/turns/answer/stream-answer.ts',
    // Is no part of the service: whoever imports `recap/compaction` pays.
    'functions/src/external-history/compact.ts',
    // Hand on what a summariser is asked.
    'functions/src/models/log-model-call.ts',
    'functions/src/models/model-health.ts',
    'functions/src/worker/compaction/ask-summariser.ts',
  ]);
});
