import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createBudget, type Budget } from '#functions/quota/budget.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { budgetCollection } from '#shared/conversation/documents/paths.ts';
import { StoreUnavailableError } from '#shared/lib/errors.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';

const LIMIT = 1_000;
const refused = { reason: 'GLOBAL_BUDGET' };

function world() {
  let writes = 0;
  const lost = { replies: 0 };
  const clock = createManualClock(new Date('2026-01-02T23:58:00.000Z'));
  const store = createMemoryDocumentStore({
    beforeOperation: ({ name }) => {
      if (name === 'commit') writes++;
      return Promise.resolve();
    },
    afterCommit: () => {
      if (lost.replies-- > 0) throw new StoreUnavailableError({ operation: 'commit' });
      return Promise.resolve();
    },
  });
  const instance = () => createBudget({ store, clock, randomness: { uuid: () => randomUUID() } });
  const pass = async (ms: number) => {
    clock.advance(ms);
    for (let turn = 0; turn < 20; turn++) await setImmediate();
  };
  return { store, clock, instance, lost, pass, writes: () => writes };
}

/** Behind the end of every test. */
const until = new Date('2026-01-04T00:00:00.000Z');
const hold = (budget: Budget, costMicros: number) => budget.hold(LIMIT, { costMicros, until });

/** A call that cost so much. */
const spend = async (budget: Budget, costMicros: number) =>
  (await hold(budget, 1)).settle(costMicros);

test('the overall budget refuses from its amount on, until the next day', async () => {
  const { instance, clock } = world();
  const budget = instance();
  for (let i = 0; i < 24; i++) await spend(budget, 40);
  await spend(budget, 80);

  await expect(hold(budget, 1)).rejects.toMatchObject({
    ...refused,
    retryAfterMs: 120_000,
    metadata: { resetTime: '2026-01-03T00:00:00.000Z' },
  });
  expect(await budget.isSpent(LIMIT)).toBe(true);
  clock.advance(120_000);
  await expect(hold(budget, 1)).resolves.toBeDefined();
});

test('overall spending is known at once to its spender and within ten seconds elsewhere', async () => {
  const { clock, instance } = world();
  const [one, other] = [instance(), instance()];
  await Promise.all([one.isSpent(LIMIT), other.isSpent(LIMIT)]);
  await spend(one, LIMIT);

  await expect(hold(one, 1)).rejects.toMatchObject(refused);
  expect(await other.isSpent(LIMIT)).toBe(false);
  clock.advance(5_000);
  await expect(hold(other, 1)).rejects.toMatchObject(refused);
});

test('the overall budget admits parallel calls only where all fit', async () => {
  const { instance } = world();
  const budget = instance();
  await spend(budget, LIMIT - 10);

  const ends = await Promise.allSettled(Array.from({ length: 9 }, () => hold(budget, 20)));

  expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  await expect(hold(budget, 20)).rejects.toMatchObject({ ...refused, retryAfterMs: 5_000 });
});

test('what one instance holds, and dies, counts until the day ends', async () => {
  const { instance, pass } = world();
  const [dead, other] = [instance(), instance()];
  await hold(dead, LIMIT);
  await pass(4_000);
  await pass(60_000);

  await expect(hold(other, 1)).rejects.toMatchObject(refused);
});

test('a cost whose write gets no reply counts once', async () => {
  const { store, instance, lost } = world();
  const budget = instance();
  lost.replies = 1;
  await spend(budget, 40);

  await spend(budget, 2);

  expect(await store.sum(budgetCollection('2026-01-02'), 'costMicros')).toBe(42);
});

test('a call that nobody settles stays held until the day ends, and nothing is written for it', async () => {
  const { clock, instance, pass, writes } = world();
  const budget = instance();
  const soon = new Date(clock.now().getTime() + 10_000);
  await budget.hold(LIMIT, { costMicros: LIMIT, until: soon });
  for (let passed = 0; passed < 16_000; passed += 4_000) await pass(4_000);
  const before = writes();
  for (let passed = 0; passed < 20_000; passed += 4_000) await pass(4_000);

  expect(writes()).toBe(before);
  await expect(hold(budget, 1)).rejects.toMatchObject(refused);
  clock.advance(120_000);
  await expect(hold(budget, 1)).resolves.toBeDefined();
});
