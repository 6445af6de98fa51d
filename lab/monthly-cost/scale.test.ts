import { describe, expect, test } from 'vitest';
import { terraformFolder } from '#test/terraform/check-terraform.ts';
import { readModule } from '#test/terraform/read-module.ts';
import type { DocumentCounts, Operations } from './document-counts.ts';
import { assumed } from './monthly-cost.ts';
import { assumedPeak, deployed, scaleOf } from './scale.ts';

const one = (reads: number, writes: number, messages = 0): Operations => ({
  reads,
  writes,
  messages,
  deletes: 0,
  expiring: 0,
});

const counts: DocumentCounts = {
  turn: one(4, 10),
  elsewhere: one(14, 10),
  compaction: one(50, 20, 3),
  sweep: one(0, 0),
};

/** Daily users who send one message a second in the busiest minutes. */
const USERS_A_SECOND = 86_400 / assumed.turnsPerUserDay / assumedPeak.peakFactor;
const at = (turnsPerSecond: number) =>
  scaleOf({ users: USERS_A_SECOND * turnsPerSecond, atOnce: 10 }, counts);

describe('the scale of so many daily users', () => {
  test('has the documents of their turns and compactions in it, and half of the turns cold', () => {
    const compactions = 100 / assumed.turnsPerCompaction;

    expect(at(100)).toMatchObject({
      turns: 100,
      reads: 100 * 9 + compactions * 50,
      writes: 100 * 10 + compactions * 20,
      messages: compactions * 3 * 2,
    });
  });

  test('grows with them in all but the hours of the ramp', () => {
    const [small, large] = [at(10), at(1_000)];

    expect(large.answersAtOnce).toBeCloseTo(100 * small.answersAtOnce);
    expect(large.chatTokens).toBeCloseTo(100 * small.chatTokens);
    expect(large.sequentialWrites).toBeCloseTo(100 * small.sequentialWrites);
    expect(small.rampHours).toBe(0);
    // From 500 to about 20,000 operations a second in ten steps of a half, five minutes each.
    expect(large.rampHours).toBeCloseTo(10 / 12);
  });

  test('takes an instance at least, and one more before the last is full', () => {
    const full = (deployed.chat.concurrency * assumedPeak.filledShare) / assumed.answerSeconds;

    expect(at(0.001)).toMatchObject({ chatInstances: 1, workerInstances: 1 });
    expect(at(full * 0.99).chatInstances).toBe(1);
    expect(at(full * 1.01).chatInstances).toBe(2);
  });

  test('writes the budget once in two seconds for each instance, not for each turn, and twice for each call of a worker', () => {
    const { chatInstances, compactions, budgetWritesOfShard } = at(1_000);

    expect(budgetWritesOfShard).toBeCloseTo((chatInstances / 2 + 4 * compactions) / 20);
  });

  test.each(Object.entries(deployed))(
    'is that of %s as Terraform makes it',
    async (name, { concurrency, maxInstances, memoryMib }) => {
      const { variables } = await readModule(terraformFolder);
      const type = String(variables.find((variable) => variable.name === name)?.body['type']);
      const defaultOf = (field: string) =>
        Number(new RegExp(`\\b${field}\\W+optional\\(number, (\\d+)\\)`).exec(type)?.[1]);

      expect(['concurrency', 'max_instances', 'memory_mib'].map(defaultOf)).toEqual([
        concurrency,
        maxInstances,
        memoryMib,
      ]);
    },
  );
});
