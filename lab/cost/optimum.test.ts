import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cheapestFolds } from './optimum.ts';
import { findTailStart, listSteps, sumSteps, type Conversation } from './conversation.ts';
import { billFolds, type Fold, type Means, type Rates } from './bill.ts';

const price = { input: 1, cached: 0.1, output: 6 };
const dear = { ...price, above: { promptTokens: 6_000, input: 2, cached: 0.2, output: 9 } };
const rates: Rates = {
  model: { price: dear, cacheFromTokens: 4_096 },
  cloud: { perRead: 1e-6, perWrite: 1e-6, perDelete: 0, perMessage: 0 },
  windowTokens: 1_000_000,
};
const operations = { reads: 4, writes: 8, deletes: 0, messages: 0 };

const anyTurns = fc.array(
  fc.array(fc.integer({ min: 10, max: 1_500 }), { minLength: 2, maxLength: 4 }),
  { minLength: 1, maxLength: 7 },
);
const anyWorld = fc
  .record({
    sizes: anyTurns,
    overheadTokens: fc.constantFrom(0, 500, 5_000),
    hitFraction: fc.constantFrom(0, 0.5, 0.9, 1),
    snapshotTokens: fc.integer({ min: 50, max: 1_500 }),
    recalledTokens: fc.constantFrom(0, 300),
    isChecked: fc.boolean(),
  })
  .map(({ sizes, overheadTokens, hitFraction, recalledTokens, ...rest }) => {
    const even = sizes.map((turn) => (turn.length % 2 === 0 ? turn : turn.slice(1)));
    const means: Means = {
      summariser: { instructionTokens: 400, outputTokens: 100, ...rest },
      recalledTokens,
      turn: operations,
      compaction: operations,
    };
    const at = (turns: number): Conversation => ({
      steps: listSteps(even, turns),
      turns,
      overheadTokens,
      hitFraction,
    });
    return { means, at };
  });

/** Every way to compact, after any of the turns or none. */
function everyWay({ steps }: Conversation, tails: readonly number[]): Fold[][] {
  const sums = sumSteps(steps);
  const go = (from: number, start: number): Fold[][] => {
    const ways: Fold[][] = [[]];
    for (let end = from + 1; end < steps.length; end++) {
      if (steps[end - 1]?.isTurnEnd !== true) continue;
      for (const next of new Set(tails.map((tail) => findTailStart(sums, end, tail))))
        if (next > start) ways.push(...go(end, next).map((way) => [{ end, start: next }, ...way]));
    }
    return ways;
  };
  return go(0, 0);
}

describe('the cheapest compactions', () => {
  test('cost as little as the best of all that there are', () => {
    fc.assert(
      fc.property(anyWorld, ({ at, means }) => {
        const conversation = at(6);
        const total = (folds: readonly Fold[]) =>
          billFolds(conversation, folds, { rates, means }).total;

        const least = Math.min(...everyWay(conversation, [0, 2_000]).map(total));

        expect(total(cheapestFolds(conversation, [0, 2_000], { rates, means }))).toBeCloseTo(
          least,
          9,
        );
      }),
      { numRuns: 60 },
    );
  });

  test('are none where a summary costs more than it saves', () => {
    const conversation = {
      steps: listSteps([[100, 100]], 5),
      turns: 5,
      overheadTokens: 0,
      hitFraction: 0,
    };
    const summariser = {
      instructionTokens: 50_000,
      outputTokens: 100,
      snapshotTokens: 100,
      isChecked: false,
    };
    const means = { summariser, recalledTokens: 0, turn: operations, compaction: operations };

    expect(cheapestFolds(conversation, [0], { rates, means })).toEqual([]);
  });
});
