import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createBudget } from '#functions/quota/budget.ts';
import { createOpenStreams } from '#functions/quota/open-streams.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';

const LIMIT = 1_000;

/** Somebody who has taken nothing yet, and wants next to nothing. */
const nobody = { usedMicros: 0, heldMicros: 0, wantedMicros: 0 };

function world() {
  let [reads, writes] = [0, 0];
  const clock = createManualClock(new Date('2026-01-02T23:59:00.000Z'));
  const store = createMemoryDocumentStore({
    beforeOperation: ({ name }) => {
      if (name === 'get') reads++;
      return Promise.resolve();
    },
  });
  const instance = () =>
    createBudget({ store, clock, randomness: { uuid: () => randomUUID() } }, LIMIT);
  /** As a settlement does it. */
  const add = async (budget: ReturnType<typeof instance>, costMicros: number) => {
    const part = budget.take('2026-01-02', costMicros);
    if (!part) return;
    const [document] = await store.get([part.path]);
    await store.commit([budget.write(part, document)]);
    writes++;
  };
  return { clock, instance, add, reads: () => reads, writes: () => writes };
}

describe('the budget of all', () => {
  test('the overall budget refuses from its amount on, until the next day', async () => {
    const { instance, add } = world();
    const budget = instance();
    for (let i = 0; i < 25; i++) await add(budget, 40);

    await expect(budget.refuseSpent(nobody)).rejects.toMatchObject({
      reason: 'GLOBAL_BUDGET',
      retryAfterMs: 60_000,
      metadata: { resetTime: '2026-01-03T00:00:00.000Z' },
    });
  });

  test('overall spending is known at once to its spender and within ten seconds elsewhere', async () => {
    const { clock, instance, add } = world();
    const [one, other] = [instance(), instance()];
    await Promise.all([one.refuseSpent(nobody), other.refuseSpent(nobody)]);
    await add(one, LIMIT);

    await expect(one.refuseSpent(nobody)).rejects.toMatchObject({ reason: 'GLOBAL_BUDGET' });
    await expect(other.refuseSpent(nobody)).resolves.toBeUndefined();
    clock.advance(10_000);
    await expect(other.refuseSpent(nobody)).rejects.toMatchObject({ reason: 'GLOBAL_BUDGET' });
  });

  test('the overall budget is read once in ten seconds, however many ask', async () => {
    const { instance, reads } = world();
    const budget = instance();

    await Promise.all(Array.from({ length: 50 }, () => budget.refuseSpent(nobody)));
    await budget.refuseSpent(nobody);

    expect(reads()).toBe(1);
  });

  test('the overall budget is written once in two seconds without losing an answer', async () => {
    const { clock, instance, add, writes } = world();
    const [budget, other] = [instance(), instance()];
    await budget.refuseSpent(nobody);
    for (let i = 0; i < 50; i++) await add(budget, 1);
    expect(writes()).toBe(1);

    clock.advance(2_000);
    await add(budget, LIMIT - 50);

    expect(writes()).toBe(2);
    await expect(other.refuseSpent(nobody)).rejects.toMatchObject({ reason: 'GLOBAL_BUDGET' });
  });

  test('the overall budget is written at once when nearly reached', async () => {
    const { instance, add, writes } = world();
    const [budget, other] = [instance(), instance()];
    await budget.refuseSpent(nobody);

    for (let i = 0; i < 20; i++) await add(budget, 50);

    expect(writes()).toBe(20);
    await expect(other.refuseSpent(nobody)).rejects.toMatchObject({ reason: 'GLOBAL_BUDGET' });
  });

  test('the overall budget is re-read for a user whose dollars could exceed it', async () => {
    const { instance, add, reads } = world();
    const [one, other] = [instance(), instance()];
    await other.refuseSpent(nobody);
    await add(one, LIMIT);
    const before = reads();

    await expect(other.refuseSpent(nobody)).resolves.toBeUndefined();
    expect(reads()).toBe(before);
    const own = { usedMicros: LIMIT - 10, heldMicros: 0, wantedMicros: 10 };
    await expect(other.refuseSpent(own)).rejects.toMatchObject({ reason: 'GLOBAL_BUDGET' });
  });

  test('the overall budget admits a parallel answer only where all fit', async () => {
    const { instance, add } = world();
    const budget = instance();
    await add(budget, LIMIT - 10);

    const alone = { usedMicros: 0, heldMicros: 0, wantedMicros: 20 };
    await expect(budget.refuseSpent(alone)).resolves.toBeUndefined();
    await expect(budget.refuseSpent({ ...alone, heldMicros: 1 })).rejects.toMatchObject({
      reason: 'GLOBAL_BUDGET',
      retryAfterMs: 5_000,
    });
  });

  test('the overall budget retries a failed write with a later answer', async () => {
    const { clock, instance, add } = world();
    const [budget, other] = [instance(), instance()];
    const part = budget.take('2026-01-02', LIMIT);
    if (part) budget.giveBack(part);

    clock.advance(2_000);
    await add(budget, 1);

    await expect(other.refuseSpent(nobody)).rejects.toMatchObject({ reason: 'GLOBAL_BUDGET' });
  });

  test('the overall budget restarts at midnight', async () => {
    const { clock, instance, add } = world();
    const budget = instance();
    await add(budget, LIMIT);
    await expect(budget.refuseSpent(nobody)).rejects.toMatchObject({ reason: 'GLOBAL_BUDGET' });

    clock.advance(60_000);

    await expect(budget.refuseSpent(nobody)).resolves.toBeUndefined();
  });
});

describe('open streams', () => {
  test('open streams are counted by user until they are closed, once', () => {
    const streams = createOpenStreams(createManualClock(), 1_000);
    const close = streams.open('a');
    streams.open('a');
    streams.open('b');

    close();
    close();

    expect([streams.count('a'), streams.count('b'), streams.count('c')]).toEqual([1, 1, 0]);
  });

  test('open streams that nobody closes count no longer than their maximum duration', () => {
    const clock = createManualClock();
    const streams = createOpenStreams(clock, 1_000);
    streams.open('a');

    clock.advance(1_000);

    expect(streams.count('a')).toBe(0);
  });
});
