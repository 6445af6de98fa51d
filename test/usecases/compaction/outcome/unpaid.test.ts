import { describe, expect, test } from 'vitest';
import { parseConfig } from '#functions/config.ts';
import { viewContext } from '#functions/chat/context/view-context.ts';
import { runSweep } from '#functions/worker/sweep/sweep.ts';
import { budgetShardPath, statusPath, usagePath } from '#shared/conversation/documents/paths.ts';
import { encodeUsage, noUsage } from '#shared/quota/usage.ts';
import {
  autoRequest,
  buildDue,
  compactOnce,
  manualRequest,
  neverAborted,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import {
  compactionBench,
  type CompactionBench,
} from '#test/support/compaction/compaction-dependencies.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';

const HOUR_MS = 60 * 60_000;
const DAY = '2026-01-02';
const limits = { USER_DAILY_USD: '0.04', GLOBAL_DAILY_USD: '0.04' };
const SPENT_MICROS = 40_000;

const benchWith = (environment: Record<string, string> = limits) =>
  compactionBench({
    config: parseConfig({
      GOOGLE_CLOUD_PROJECT: 'demo-recap',
      PUBSUB_EMULATOR_HOST: 'localhost:1',
      ...environment,
    }),
  });

const spend = {
  USER_DAILY_USD: ({ store, clock }: CompactionBench) =>
    store.commit([
      {
        op: 'create',
        path: usagePath('u1', DAY),
        fields: encodeUsage({ ...noUsage, costMicros: SPENT_MICROS }, clock.now()),
      },
    ]),
  GLOBAL_BUDGET: ({ store, clock }: CompactionBench) =>
    store.commit([
      {
        op: 'create',
        path: budgetShardPath(DAY, 'instance-1'),
        fields: { schemaVersion: 1, costMicros: SPENT_MICROS, expireTime: clock.now() },
      },
    ]),
};
const reasons = ['USER_DAILY_USD', 'GLOBAL_BUDGET'] as const;

/** Below the hard threshold, so that code alone leaves it as it is. */
const soon = (needed = autoRequest()) => ({
  turns: 12,
  conversation: { compactionRequests: needed },
});

const sweep = (bench: CompactionBench) => runSweep(bench, neverAborted());

const publishedBy = async (bench: CompactionBench) => {
  bench.published.length = 0;
  await sweep(bench);
  return bench.published.filter(({ topic }) => topic === 'compaction').length;
};

describe.each(reasons)('a compaction for which %s leaves nothing', (reason) => {
  test.each([
    ['of the threshold', autoRequest()],
    ['of a person', manualRequest()],
  ])('%s without budget waits, calls no model and is kept', async (_, needed) => {
    const bench = benchWith();
    await spend[reason](bench);
    const conversationId = await buildDue(bench, soon(needed));

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ kind: 'done', state: 'NOOP', reason });
    expect(bench.model.calls).toEqual([]);
    const { conversation, job } = await see(bench.store, conversationId);
    expect(conversation.compactionRequests).toEqual(needed);
    expect(job).toMatchObject({ owner: '', records: [{ state: 'NOOP', reason }] });
  });

  test('a compaction without budget says why in plain words, to devices and callers', async () => {
    const bench = benchWith();
    await spend[reason](bench);
    const conversationId = await buildDue(bench, soon());

    await compactOnce(bench, conversationId);

    const said = {
      state: 'QUEUED',
      reason,
      message: expect.stringMatching(/^Compaction waits: .* goes on by itself the next day\./),
    };
    const [status] = await bench.store.get([statusPath(conversationId)]);
    expect(status?.fields['compaction']).toMatchObject(said);
    const chat = chatDependencies({ store: bench.store, clock: bench.clock });
    const { conversation, history, job, tokens } = await see(bench.store, conversationId);
    const meter = { tokens, source: 'estimated' } as const;
    const view = { conversation, history, turns: [], job, meter, locale: undefined };
    expect(viewContext(chat, view).compaction).toMatchObject(said);
  });

  test('a compaction without budget is rechecked hourly, and runs when the day turns', async () => {
    const bench = benchWith();
    await spend[reason](bench);
    const conversationId = await buildDue(bench, soon());
    for (let hour = 0; hour < 20; hour++) {
      await compactOnce(bench, conversationId);
      expect(await publishedBy(bench)).toBe(0);
      bench.clock.advance(HOUR_MS);
      expect(await publishedBy(bench)).toBe(1);
    }
    const waited = await see(bench.store, conversationId);
    expect(waited.job?.records).toHaveLength(1);
    bench.clock.advance(HOUR_MS);

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect((await see(bench.store, conversationId)).conversation.compactionRequests).toEqual({});
  });

  test('a compaction without budget is not redelivered while it waits', async () => {
    const bench = benchWith();
    await spend[reason](bench);
    const conversationId = await buildDue(bench, soon(manualRequest()));
    await compactOnce(bench, conversationId);

    expect(await compactOnce(bench, conversationId)).toEqual({ kind: 'later', reason });
  });

  test('a compaction without budget is done by code at the hard threshold', async () => {
    const bench = benchWith();
    await spend[reason](bench);
    const conversationId = await buildDue(bench);

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(bench.model.calls).toEqual([]);
  });
});

test('a compaction request that waits for budget is given up after a week', async () => {
  const bench = benchWith({ USER_DAILY_USD: '0.000001' });
  const conversationId = await buildDue(bench, soon());
  const spendAll = async () => {
    const path = usagePath('u1', bench.clock.now().toISOString().slice(0, 10));
    const [known] = await bench.store.get([path]);
    const fields = encodeUsage({ ...noUsage, costMicros: 1 }, bench.clock.now());
    if (!known) await bench.store.commit([{ op: 'create', path, fields }]);
  };
  for (let day = 0; day < 7; day++) {
    await spendAll();
    await compactOnce(bench, conversationId);
    bench.clock.advance(23.9 * HOUR_MS);
    expect(await publishedBy(bench)).toBe(1);
  }
  await spendAll();
  await compactOnce(bench, conversationId);
  bench.clock.advance(24 * HOUR_MS);

  await sweep(bench);

  expect((await see(bench.store, conversationId)).conversation.compactionRequests).toEqual({});
});

test('a call whose budget ends half-way keeps history and request', async () => {
  const bench = benchWith();
  const conversationId = await buildDue(bench, soon());
  const { clock, store } = bench;
  const path = usagePath('u1', DAY);
  // Another instance holds nearly all of it.
  const held = [
    { id: 'other', costMicros: 39_999, until: new Date(clock.now().getTime() + 1_000) },
  ];
  const fields = encodeUsage({ ...noUsage, held }, clock.now());
  await store.commit([{ op: 'create', path, fields }]);

  const result = await compactOnce(bench, conversationId);

  expect(result).toMatchObject({ state: 'NOOP', reason: 'USER_DAILY_USD' });
  const { job, conversation } = await see(store, conversationId);
  expect(conversation).toMatchObject({ generation: 0, compactionRequests: autoRequest() });
  expect(job).toMatchObject({
    attempts: { auto: { count: 0 } },
    brake: {
      failures: 0,
      pause: { reason: 'USER_DAILY_USD', until: new Date(clock.now().getTime() + 60_000) },
    },
  });
  clock.advance(60_000);
  expect(await compactOnce(bench, conversationId)).toMatchObject({ state: 'COMPACTED' });
});
