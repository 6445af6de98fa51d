import { describe, expect, test } from 'vitest';
import { eraseUser } from '../../functions/src/chat/conversation/erase-user.ts';
import { parseConfig } from '../../functions/src/config.ts';
import { BUDGET_SHARDS } from '../../functions/src/quota/quota-settings.ts';
import { spendOnWork } from '../../functions/src/quota/spend-on-work.ts';
import { budgetShardPath, headPath, usagePath } from '../../shared/conversation/paths.ts';
import { dayOf, nextDayOf } from '../../shared/quota/day.ts';
import { buildDue, compactOnce } from '../support/compacted-conversation.ts';
import { recordCommits } from '../support/commit-rules.ts';
import { compactionBench } from '../support/compaction-dependencies.ts';
import { serveErasures } from '../support/erasing.ts';
import { lifecycle, owner } from '../support/lifecycle.ts';
import { answerOrReason, limitedChat, usageOf } from '../support/quotas.ts';
import { createRecordedStore } from '../support/recorded-store.ts';

const configWith = (limits: Record<string, string>) =>
  parseConfig({
    GOOGLE_CLOUD_PROJECT: 'demo-recap',
    PUBSUB_EMULATOR_HOST: 'localhost:1',
    ...limits,
  });

const limited = { USER_DAILY_USD: '1', GLOBAL_DAILY_USD: '10' };

async function compactedBench(limits: Record<string, string>) {
  const commits = recordCommits();
  const recorded = createRecordedStore({ beforeOperation: commits.beforeOperation });
  const bench = compactionBench({ store: recorded.store, config: configWith(limits) });
  const conversationId = await buildDue(bench);
  // The made-up turns keep to no rule.
  commits.commits.length = 0;
  await compactOnce(bench, conversationId);
  return { bench, conversationId, commits, ...recorded };
}

const countsOf = async ({
  documents,
}: Pick<Awaited<ReturnType<typeof compactedBench>>, 'documents'>) =>
  (await documents()).map(({ path }) => path).filter((path) => !path.startsWith('conversations/'));

describe('a compaction', () => {
  test('costs its user dollars of the day, and no message and no tokens', async () => {
    const { bench, commits } = await compactedBench(limited);

    const usage = await usageOf(bench.store);

    expect(usage).toMatchObject({
      messages: 0,
      tokens: 0,
      costMicros: 0,
      compactions: { runs: 1 },
    });
    expect(usage.compactions.tokens).toBeGreaterThan(0);
    expect(usage.compactions.costMicros).toBeGreaterThan(0);
    expect(commits.brokenRules()).toEqual([]);
  });

  test('counts into the budget of all', async () => {
    const { bench } = await compactedBench(limited);

    const paths = Array.from({ length: BUDGET_SHARDS }, (_, n) => budgetShardPath('2026-01-02', n));
    const shards = await bench.store.get(paths);

    const micros = shards.map((shard) => Number(shard?.fields['costMicros'] ?? 0));
    const { compactions } = await usageOf(bench.store);
    expect(micros.reduce((sum, value) => sum + value, 0)).toBe(compactions.costMicros);
  });

  test('writes nothing of it where nothing is limited', async () => {
    expect(await countsOf(await compactedBench({}))).toEqual([]);
  });

  test('that has spent what is left refuses the next message', async () => {
    const { bench } = await compactedBench(limited);
    const { compactions } = await usageOf(bench.store);
    const { store, clock } = bench;
    const usd = (extraMicros: number) => String((compactions.costMicros + extraMicros) / 1_000_000);

    const poor = limitedChat({ USER_DAILY_USD: usd(1) }, { store, clock });
    const rich = limitedChat({ USER_DAILY_USD: usd(10_000) }, { store, clock });

    expect(await answerOrReason(poor, 'c-1')).toBe('USER_DAILY_USD');
    expect(await answerOrReason(rich, 'c-2')).toBe('done');
  });

  test('is counted once when the reply was lost', async () => {
    const { bench, conversationId, loseReplyOf } = await compactedBench(limited);
    const before = await usageOf(bench.store);
    loseReplyOf(({ path }) => path.startsWith('users/'));
    const clock = { now: () => bench.clock.now(), wait: () => Promise.resolve() };
    const work = 'compactions' as const;
    const bill = { work, conversationId, ownerUid: 'u1', tokens: 10, costMicros: 5 };

    await spendOnWork({ ...bench, clock }, bill);

    const { compactions } = await usageOf(bench.store);
    expect(compactions.runs).toBe(before.compactions.runs + 1);
    expect(compactions.costMicros).toBe(before.compactions.costMicros + 5);
  });

  test('leaves nothing behind a user who is erased meanwhile', async () => {
    const world = lifecycle();
    const conversationId = await buildDue(world);
    await eraseUser(world.chat, { caller: owner });
    const config = configWith(limited);
    const work = 'compactions' as const;
    const bill = { work, conversationId, ownerUid: owner.uid, tokens: 10, costMicros: 5 };

    await spendOnWork({ ...world.bench, config }, bill);
    await serveErasures(world);
    await spendOnWork({ ...world.bench, config }, bill);

    const paths = (await world.documents()).map(({ path }) => path);
    expect(paths.filter((path) => !path.startsWith('budget/'))).toEqual([headPath(conversationId)]);
  });
});

describe('erasing a user', () => {
  test('takes along what was counted on other days, and of today all but bare figures', async () => {
    const world = lifecycle();
    const { store } = world;
    const { clock } = world.bench;
    const chat = limitedChat({ USER_DAILY_MESSAGES: '9' }, { store, clock });
    await answerOrReason(chat, 'c-1');
    clock.advance(24 * 60 * 60_000);
    await answerOrReason(chat, 'c-1');
    expect((await world.documents()).filter(({ path }) => path.startsWith('users/'))).toHaveLength(
      2,
    );

    await eraseUser(world.chat, { caller: owner });

    const left = (await world.documents()).filter(({ path }) => path.startsWith('users/'));
    expect(left.map(({ path }) => path)).toEqual([usagePath(owner.uid, dayOf(clock.now()))]);
    expect(left[0]?.fields).toMatchObject({ messages: 1, open: [] });
    expect(left[0]?.fields['expireTime']).toEqual(nextDayOf(clock.now()));
  });

  test('does not give its quota of the day anew', async () => {
    const world = lifecycle();
    const { store } = world;
    const { clock } = world.bench;
    const chat = limitedChat({ USER_DAILY_MESSAGES: '1' }, { store, clock });
    expect(await answerOrReason(chat, 'c-1', { caller: owner })).toBe('done');

    await eraseUser(world.chat, { caller: owner });
    await eraseUser(world.chat, { caller: owner });

    expect(await answerOrReason(chat, 'c-2', { caller: owner })).toBe('USER_DAILY_MESSAGES');
  });

  test('is not undone by an answer that ends behind it', async () => {
    const world = lifecycle();
    const { store } = world;
    const { clock } = world.bench;
    const chat = limitedChat({ USER_DAILY_MESSAGES: '9' }, { store, clock });
    const reservation = await chat.quota.reserve({
      caller: owner,
      conversationId: 'c-1',
      messageId: 'm-1',
      attempt: 1,
      model: 'house-model',
      estimatedTokens: 10,
    });
    await store.commit(reservation?.writes ?? []);

    await eraseUser(world.chat, { caller: owner });
    await reservation?.settle({ isMessage: true, isUnreported: true });

    const left = (await world.documents()).filter(({ path }) => path.startsWith('users/'));
    expect(left.map(({ path }) => path)).toEqual([usagePath(owner.uid, dayOf(clock.now()))]);
    expect(left[0]?.fields).toMatchObject({ messages: 1, expireTime: nextDayOf(clock.now()) });
    expect(JSON.stringify(left[0]?.fields)).not.toContain('c-1');
  });
});
