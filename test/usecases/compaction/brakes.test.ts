import { describe, expect, test } from 'vitest';
import { readContext, toContextObject } from '#functions/chat/context/view-context.ts';
import type { Pause } from '#shared/conversation/documents/job.ts';
import { budgetShardPath, statusPath, usagePath } from '#shared/conversation/documents/paths.ts';
import { workingItems } from '#shared/conversation/documents/snapshot.ts';
import { AppError } from '#shared/lib/errors.ts';
import { encodeUsage, noUsage } from '#shared/quota/usage.ts';
import {
  type ScriptedAnswer,
  createScriptedModel,
  snapshotAnswer,
} from '#test/fakes/scripted-model.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { owner, setConversation, configOf, needAgain } from '#test/support/chat/lifecycle.ts';
import {
  autoRequest,
  buildDue,
  compactOnce,
  manualRequest,
  see,
  type CompactionBench,
  compactionBench,
  sweep,
} from '#test/support/compaction/compacted-conversation.ts';
import { addTurn, madeUpQuestion } from '#test/support/compaction/conversation-builder.ts';
import { writeJob } from '#test/support/compaction/past-compactions.ts';
import { modelDown } from '#test/support/model-down.ts';

const HOUR_MS = 60 * 60_000;
const DAY = '2026-01-02';
const SPENT_MICROS = 40_000;

/** What a conversation and its owner may spend in all of these tests. */
const limited = () =>
  compactionBench({
    config: configOf('ledger', {
      COMPACTIONS_PER_HOUR: '2',
      USER_DAILY_USD: '0.04',
      GLOBAL_DAILY_USD: '0.04',
    }),
  });

/** A threshold of 1,000 tokens: 12 turns are over it, 20 over the hard one. */
const SOFT = 12;
const HARD = 20;

type Braking = (bench: CompactionBench, conversationId: string) => Promise<unknown>;

const paused =
  (reason: Pause['reason']): Braking =>
  ({ store, clock }, conversationId) => {
    const until = new Date(clock.now().getTime() + 60_000);
    return writeJob(store, conversationId, { brake: { failures: 3, pause: { reason, until } } });
  };

const limitSpent: Braking = ({ store, clock }, conversationId) =>
  writeJob(store, conversationId, {
    brake: {
      failures: 0,
      spent: { hourSince: clock.now(), runs: 2, daySince: clock.now(), tokens: 20 },
    },
  });

const userSpent: Braking = ({ store, clock }) =>
  store.commit([
    {
      op: 'create',
      path: usagePath('u1', DAY),
      fields: encodeUsage({ ...noUsage, costMicros: SPENT_MICROS }, clock.now()),
    },
  ]);

const allSpent: Braking = ({ store, clock }) =>
  store.commit([
    {
      op: 'create',
      path: budgetShardPath(DAY, 'instance-1'),
      fields: { schemaVersion: 1, costMicros: SPENT_MICROS, expireTime: clock.now() },
    },
  ]);

const declinedNow: Braking = async (bench, conversationId) => {
  const { tokens } = await see(bench.store, conversationId);
  const declined = { tokens, generation: 0 };
  await setConversation(bench, conversationId, { 'compactionRequests.declined': declined });
};

const switchedTo =
  (compaction: 'manual' | 'off'): Braking =>
  (bench, conversationId) =>
    setConversation(bench, conversationId, { 'settings.compaction': compaction });

const none: Braking = () => Promise.resolve();

const requested = (trigger: 'auto' | 'modelSwitch' | 'overflow' | 'manual') =>
  trigger === 'manual'
    ? manualRequest()
    : { auto: { requestId: 'request-1', since: new Date(0), trigger } };

/** What becomes of a request: by a model, by code alone, left as it is, or ended for a reason. */
const fates = {
  model: { state: 'COMPACTED', isAsked: true, isKept: false },
  code: { state: 'COMPACTED', isAsked: false, isKept: false },
  ends: { state: 'NOOP', isAsked: false, isKept: false },
  waits: { state: 'NOOP', isAsked: false, isKept: true },
  /** Without an attempt. */
  later: { state: undefined, isAsked: false, isKept: true },
};

interface Row {
  brake: string;
  set: Braking;
  trigger?: Parameters<typeof requested>[0];
  turns?: number;
  fate: keyof typeof fates;
  reason?: string;
}

const breaker = { brake: 'an open breaker', set: paused('BREAKER_OPEN') };
const user = { brake: 'a user without dollars', set: userSpent };
const budget = { brake: 'a deployment without dollars', set: allSpent };
const retry = { brake: 'a pause before a retry', set: paused('RETRY_LATER') };
const off = { brake: 'a switch to off', set: switchedTo('off') };
const manual = { brake: 'a switch to manual', set: switchedTo('manual') };

const rows: Row[] = [
  { brake: 'nothing that holds it back', set: none, fate: 'model' },
  {
    brake: 'a smaller model whose threshold is far',
    set: none,
    turns: 3,
    trigger: 'modelSwitch',
    fate: 'ends',
    reason: 'BELOW_THRESHOLD',
  },
  {
    brake: 'no threshold for an overflow',
    set: none,
    turns: 7,
    trigger: 'overflow',
    fate: 'model',
  },
  { brake: 'no threshold for a person', set: none, turns: 7, trigger: 'manual', fate: 'model' },
  {
    brake: 'an empty conversation',
    set: none,
    turns: 0,
    trigger: 'manual',
    fate: 'ends',
    reason: 'NOTHING_TO_FOLD',
  },
  { ...breaker, fate: 'ends', reason: 'BREAKER_OPEN' },
  { ...breaker, turns: HARD, fate: 'code' },
  { ...breaker, trigger: 'manual', fate: 'model' },
  { ...retry, fate: 'later', reason: 'RETRY_LATER' },
  { brake: 'a spending limit', set: limitSpent, fate: 'ends', reason: 'SPEND_LIMIT' },
  { ...user, fate: 'waits', reason: 'USER_DAILY_USD' },
  { ...user, turns: HARD, fate: 'code' },
  { ...budget, fate: 'waits', reason: 'GLOBAL_BUDGET' },
  { brake: 'a compaction called off', set: declinedNow, fate: 'ends', reason: 'DECLINED' },
  { ...off, fate: 'ends', reason: 'SWITCHED_OFF' },
  { ...off, trigger: 'overflow', fate: 'ends', reason: 'SWITCHED_OFF' },
  { ...off, trigger: 'manual', fate: 'model' },
  { ...manual, trigger: 'modelSwitch', fate: 'ends', reason: 'SWITCHED_OFF' },
  { ...manual, trigger: 'overflow', fate: 'model' },
];

test.each(rows.map((row) => ({ trigger: 'auto' as const, turns: SOFT, ...row })))(
  'a compaction meets $brake ($trigger, $turns turns): $fate',
  async ({ set, trigger, turns, fate, reason }) => {
    const bench = limited();
    const compactionRequests = requested(trigger);
    const conversationId = await buildDue(bench, { turns, conversation: { compactionRequests } });
    await set(bench, conversationId);

    const result = await compactOnce(bench, conversationId);

    const { state, isAsked, isKept } = fates[fate];
    expect(result).toMatchObject({ ...(state && { state }), ...(reason && { reason }) });
    expect(bench.model.calls.length > 0).toBe(isAsked);
    const { conversation, job } = await see(bench.store, conversationId);
    const { auto, manual: byHand } = conversation.compactionRequests;
    expect([auto, byHand].some(Boolean)).toBe(isKept);
    expect(conversation.generation).toBe(state === 'COMPACTED' ? 1 : 0);
    expect(job?.owner ?? '').toBe('');
  },
);

describe('a failing model', () => {
  const overQuota = (retryAfterMs: number) =>
    new AppError({
      status: 'RESOURCE_EXHAUSTED',
      reason: 'MODEL_QUOTA',
      message: 'the model answered 429',
      publicMessage: 'The model is busy.',
      retryable: true,
      retryAfterMs,
    });
  const scripted = (...answers: ScriptedAnswer[]) =>
    compactionBench({ model: createScriptedModel({ answers }) });

  test.each([
    { what: 'longer than the back-off', asksMs: 90_000, waitsMs: 90_000 },
    { what: 'shorter than the back-off', asksMs: 1_000, waitsMs: 10_000 },
  ])(
    'an unavailable model is asked again after its retry time, $what, and the request stays',
    async ({ asksMs, waitsMs }) => {
      const bench = scripted(overQuota(asksMs), snapshotAnswer());
      const conversationId = await buildDue(bench);

      const first = await compactOnce(bench, conversationId);
      const between = await see(bench.store, conversationId);
      bench.clock.advance(waitsMs - 1_000);
      const early = await compactOnce(bench, conversationId);
      bench.clock.advance(1_000);
      const late = await compactOnce(bench, conversationId);

      expect(first).toEqual({ kind: 'retry', retryAfterMs: waitsMs, reason: 'MODEL_QUOTA' });
      expect(between.conversation.compactionRequests).toEqual(autoRequest());
      expect(between.job).toMatchObject({
        owner: '',
        attempts: { auto: { count: 1 } },
        brake: { failures: 1, pause: { reason: 'RETRY_LATER' } },
      });
      expect(early).toEqual({ kind: 'later', retryAfterMs: 1_000, reason: 'RETRY_LATER' });
      expect(late).toMatchObject({ kind: 'done', state: 'COMPACTED' });
      expect(bench.model.calls).toHaveLength(2);
    },
  );

  test('the third failure settles the request and opens the breaker, which is logged once', async () => {
    const bench = scripted(modelDown(), modelDown(), modelDown(), snapshotAnswer());
    const conversationId = await buildDue(bench, { turns: SOFT });

    const results = [];
    for (let attempt = 0; attempt < 3; attempt++) {
      results.push(await compactOnce(bench, conversationId));
      bench.clock.advance(61_000);
    }
    const { conversation, job, tokens } = await see(bench.store, conversationId);
    await needAgain(bench, conversationId, 'request-2');
    const whileOpen = await compactOnce(bench, conversationId);
    bench.clock.advance(HOUR_MS / 2);
    await needAgain(bench, conversationId, 'request-3');
    const afterwards = await compactOnce(bench, conversationId);

    expect(results.map(({ kind }) => kind)).toEqual(['retry', 'retry', 'done']);
    expect(results[2]).toMatchObject({ state: 'FAILED_ERROR' });
    expect(conversation.compactionRequests).toEqual({});
    expect(job?.records).toHaveLength(3);
    expect(job?.brake.pause).toMatchObject({ reason: 'BREAKER_OPEN', fromTokens: 1.5 * tokens });
    const opened = bench.logged.filter(({ event }) => event === 'compaction_breaker_opened');
    expect(opened.map(({ fields }) => fields)).toEqual([{ conversationId }]);
    expect(whileOpen).toMatchObject({ state: 'NOOP', reason: 'BREAKER_OPEN' });
    expect(afterwards).toMatchObject({ state: 'COMPACTED' });
    expect((await see(bench.store, conversationId)).job?.brake.failures).toBe(0);
  });

  test('a model that always fails does not prevent repeated compactions', async () => {
    const model = createScriptedModel({
      answers: [modelDown()],
      count: () => Promise.reject(modelDown()),
    });
    const bench = compactionBench({ model });
    const conversationId = await buildDue(bench, { turns: 1 });
    let longest = 0;

    for (let round = 1; round <= 60; round++) {
      await addTurn(bench.store, conversationId, {
        user: `What is worth a visit on day ${round} of the trip?`,
        answer: `On day ${round} go to the harbour in the morning, when it is quiet. `.repeat(8),
      });
      await needAgain(bench, conversationId, `request-${round}`);
      await compactOnce(bench, conversationId);
      bench.clock.advance(10 * 60_000);
      longest = Math.max(longest, (await see(bench.store, conversationId)).tokens);
    }

    const { conversation, history } = await see(bench.store, conversationId);
    expect(conversation.generation).toBeGreaterThan(2);
    expect(history?.strategy).toBe('fallback');
    expect(longest).toBeLessThan(3_000);
  });
});

test('a fold by code keeps the newest of the user’s messages word for word, and leaves the brake', async () => {
  const bench = limited();
  const conversationId = await buildDue(bench);
  await breaker.set(bench, conversationId);
  const before = await see(bench.store, conversationId);

  await compactOnce(bench, conversationId);

  const { history, job, text, tokens } = await see(bench.store, conversationId);
  expect(history).toMatchObject({ strategy: 'fallback', model: '', modelCalls: 0 });
  expect(text).toContain(`User: \\"${madeUpQuestion(history?.coveredThrough.seq ?? 0)}\\"`);
  expect(history?.snapshot && workingItems(history.snapshot).length).toBeGreaterThan(1);
  expect(tokens).toBeLessThan(before.tokens / 2);
  expect(job?.brake).toEqual(before.job?.brake);
});

test('a compaction’s tokens are recorded and count for its spending limit', async () => {
  const bench = limited();
  const conversationId = await buildDue(bench);

  await compactOnce(bench, conversationId);

  const { job, history } = await see(bench.store, conversationId);
  expect(history?.usage).toEqual({ promptTokens: 100, outputTokens: 50 });
  expect(job?.records).toMatchObject([{ tokens: { promptTokens: 100, outputTokens: 50 } }]);
  const now = bench.clock.now();
  expect(job?.brake).toEqual({
    failures: 0,
    spent: { hourSince: now, runs: 1, daySince: now, tokens: 150 },
  });
});

describe('a compaction that waits for dollars', () => {
  const publishedBy = async (bench: CompactionBench) => {
    bench.published.length = 0;
    await sweep(bench);
    return bench.published.filter(({ topic }) => topic === 'compaction').length;
  };

  test.each([user, budget])(
    'a compaction that meets $brake says why in plain words, to devices and callers',
    async ({ set }) => {
      const bench = limited();
      const conversationId = await buildDue(bench, { turns: SOFT });
      await set(bench, conversationId);

      await compactOnce(bench, conversationId);

      const told = {
        state: 'QUEUED',
        message: expect.stringMatching(/^Compaction waits: .* goes on by itself the next day\./),
      };
      const [status] = await bench.store.get([statusPath(conversationId)]);
      expect(status?.fields['compaction']).toMatchObject(told);
      const chat = chatDependencies({ store: bench.store, clock: bench.clock });
      const view = await readContext(chat, { caller: owner, conversationId });
      expect(toContextObject(chat, view, undefined).compaction).toMatchObject(told);
    },
  );

  test('a compaction without dollars is rechecked hourly, without another record, until the day turns', async () => {
    const bench = limited();
    const conversationId = await buildDue(bench, { turns: SOFT });
    await userSpent(bench, conversationId);

    for (let hour = 0; hour < 20; hour++) {
      await compactOnce(bench, conversationId);
      expect(await compactOnce(bench, conversationId)).toEqual({
        kind: 'later',
        reason: 'USER_DAILY_USD',
      });
      expect(await publishedBy(bench)).toBe(0);
      bench.clock.advance(HOUR_MS);
      expect(await publishedBy(bench)).toBe(1);
    }
    expect((await see(bench.store, conversationId)).job?.records).toHaveLength(1);
    bench.clock.advance(HOUR_MS);

    expect(await compactOnce(bench, conversationId)).toMatchObject({ state: 'COMPACTED' });
  });

  test('a compaction request that waits for dollars is given up after a week', async () => {
    const bench = compactionBench({ config: configOf('ledger', { USER_DAILY_USD: '0.000001' }) });
    const conversationId = await buildDue(bench, { turns: SOFT });
    const published: number[] = [];
    for (let day = 0; day < 7; day++) {
      const path = usagePath('u1', bench.clock.now().toISOString().slice(0, 10));
      const fields = encodeUsage({ ...noUsage, costMicros: 1 }, bench.clock.now());
      await bench.store.commit([{ op: 'create', path, fields }]);
      await compactOnce(bench, conversationId);
      bench.clock.advance(24 * HOUR_MS);
      published.push(await publishedBy(bench));
    }

    expect(published).toEqual([1, 1, 1, 1, 1, 1, 0]);
    expect((await see(bench.store, conversationId)).conversation.compactionRequests).toEqual({});
  });

  test('a compaction whose dollars end half-way is tried again, and counts as no failure', async () => {
    const bench = limited();
    const conversationId = await buildDue(bench, { turns: SOFT });
    const { clock, store } = bench;
    // Another instance holds nearly all of it.
    const until = new Date(clock.now().getTime() + 1_000);
    const held = [{ id: 'other', costMicros: SPENT_MICROS - 1, until }];
    const fields = encodeUsage({ ...noUsage, held }, clock.now());
    await store.commit([{ op: 'create', path: usagePath('u1', DAY), fields }]);

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'NOOP', reason: 'USER_DAILY_USD' });
    const { job, conversation } = await see(store, conversationId);
    expect(conversation).toMatchObject({ generation: 0, compactionRequests: autoRequest() });
    expect(job).toMatchObject({ attempts: { auto: { count: 0 } }, brake: { failures: 0 } });
    clock.advance(60_000);
    expect(await compactOnce(bench, conversationId)).toMatchObject({ state: 'COMPACTED' });
  });
});
