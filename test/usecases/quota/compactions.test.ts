import { eraseUser } from '#functions/chat/conversations/erase/erase-user.ts';
import { showUsage } from '#functions/chat/routes/usage.ts';
import { paidCall, type WorkCall } from '#functions/quota/paid-call.ts';
import { usagePath } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/lib/errors.ts';
import { nextDay, sumOfCosts, toDay } from '#shared/quota/usage.ts';
import { lifecycle, owner, serveErasures } from '#test/support/chat/lifecycle.ts';
import { answerOrReason, HOUSE_PRICES, limitedChat, usageOf } from '#test/support/chat/quotas.ts';
import {
  buildDue,
  compactOnce,
  compactionBench,
  type CompactionBench,
  workerConfig,
} from '#test/support/compaction/compacted-conversation.ts';
import { expect, test } from 'vitest';

const reported = { promptTokens: 100, cachedTokens: 0, outputTokens: 50, thoughtsTokens: 0 };

const callOf = (conversationId: string): WorkCall => ({
  work: 'compactions',
  conversationId,
  ownerUid: 'u1',
  request: {
    model: 'gemini-3.8-flash',
    contents: [{ role: 'user', parts: [{ text: 'Summarise.' }] }],
    maxOutputTokens: 1_000,
    role: 'utility_compressor',
    promptId: 'request-1',
  },
});

/** With waits that pass at once. */
const passing = (bench: CompactionBench) => ({
  ...bench,
  clock: { now: () => bench.clock.now(), wait: () => Promise.resolve() },
});

const limited = { USER_DAILY_USD: '1', GLOBAL_DAILY_USD: '10' };

test('a dead worker’s compaction holds its dollars until they expire', async () => {
  const config = workerConfig({ ...limited, ...HOUSE_PRICES });
  const bench = compactionBench({
    config,
    atCrashPoint: (point) =>
      point === 'call-answered' ? Promise.reject(new Error('died')) : Promise.resolve(),
  });
  const conversationId = await buildDue(bench, { conversation: { model: 'house-model' } });

  await expect(compactOnce(bench, conversationId)).rejects.toThrow('died');

  const died = await usageOf(bench.store);
  expect(died).toMatchObject({ compactions: { runs: 0 }, held: [{ id: expect.any(String) }] });
  bench.clock.advance(config.COMPACTION_TIMEOUT_MS);
  const { limits } = await showUsage(bench, { uid: 'u1', tier: 'signedIn' });
  expect(limits.costMicrosPerDay).toMatchObject({ used: 0, reserved: 0 });
});

test('a compaction cancelled in the model call counts all that it reserved', async () => {
  const bench = compactionBench({ config: workerConfig(limited) });
  const conversationId = await buildDue(bench);
  let heldMicros = 0;
  const stopped = new Error('the call was aborted');

  const paid = paidCall(passing(bench), callOf(conversationId), async () => {
    heldMicros = sumOfCosts((await usageOf(bench.store)).held);
    throw stopped;
  });

  await expect(paid).rejects.toBe(stopped);
  const { compactions } = await usageOf(bench.store);
  expect(heldMicros).toBeGreaterThan(0);
  expect(compactions.costMicros).toBe(heldMicros);
});

test.each([
  [
    'counts its prompt, and not the longest answer, where a model is too slow',
    'MODEL_TIMEOUT',
    600,
  ],
  ['counts nothing where a model refuses it', 'MODEL_OVERLOADED', 0],
])('a compaction’s quota: %s', async (_, reason, mostTokens) => {
  const bench = compactionBench({ config: workerConfig(limited) });
  const conversationId = await buildDue(bench);
  const failure = new AppError({
    status: 'UNAVAILABLE',
    reason,
    message: 'no answer',
    publicMessage: 'There is no answer.',
  });

  const paid = paidCall(passing(bench), callOf(conversationId), () => Promise.reject(failure));

  await expect(paid).rejects.toBe(failure);
  const { compactions, held } = await usageOf(bench.store);
  expect(compactions.tokens > 0).toBe(mostTokens > 0);
  expect(compactions.tokens).toBeLessThanOrEqual(mostTokens);
  expect(held).toEqual([]);
});

test('a compaction leaves nothing behind an erased user', async () => {
  const world = lifecycle();
  const conversationId = await buildDue(world);
  const bench = passing({ ...world.bench, config: workerConfig(limited) });

  const paid = await paidCall(bench, callOf(conversationId), async () => {
    await eraseUser(world.chat, { caller: owner });
    await serveErasures(world);
    return { usage: reported };
  });
  await paid.settled;
  world.bench.clock.advance(24 * 60 * 60_000);
  const behind = paidCall(bench, callOf(conversationId), () =>
    Promise.resolve({ usage: reported }),
  );

  await expect(behind).rejects.toMatchObject({ reason: 'CONVERSATION_NOT_FOUND' });
  const left = await world.documents();
  expect(left.filter(({ path }) => path.startsWith('conversations/'))).toHaveLength(1);
  const counted = left.filter(({ path }) => path.startsWith('quotas/'));
  expect(counted.map(({ path }) => path)).toEqual([usagePath(owner.uid, '2026-01-02')]);
  expect(JSON.stringify(counted)).not.toContain(conversationId);
});

test('erasing a user removes earlier days’ usage and leaves bare counts of today', async () => {
  const world = lifecycle();
  const { store } = world;
  const { clock } = world.bench;
  const chat = limitedChat({ USER_DAILY_MESSAGES: '9' }, { store, clock });
  await answerOrReason(chat, 'c-1');
  clock.advance(24 * 60 * 60_000);
  await answerOrReason(chat, 'c-1');
  expect((await world.documents()).filter(({ path }) => path.startsWith('quotas/'))).toHaveLength(
    2,
  );

  await eraseUser(world.chat, { caller: owner });

  const left = (await world.documents()).filter(({ path }) => path.startsWith('quotas/'));
  expect(left.map(({ path }) => path)).toEqual([usagePath(owner.uid, toDay(clock.now()))]);
  expect(left[0]?.fields).toMatchObject({ messages: 1, open: [] });
  expect(left[0]?.fields['expireTime']).toEqual(nextDay(clock.now()));
});
