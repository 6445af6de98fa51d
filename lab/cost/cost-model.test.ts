import { describe, expect, test } from 'vitest';
import type { ModelPrice } from '#shared/models/model-entry.ts';
import {
  billOf,
  callDollars,
  cheapest,
  type Counted,
  type Dialogue,
  gridOf,
  operationDollars,
  type Strategy,
} from './cost-model.ts';

const price: ModelPrice = {
  input: 1,
  cached: 0.1,
  output: 10,
  above: { promptTokens: 200_000, input: 2, cached: 0.2, output: 20 },
};
const cloud = { perRead: 1, perWrite: 10, perDelete: 100, perMessage: 1_000 };
const nothing = { reads: 0, writes: 0, deletes: 0, messages: 0 };
const counted: Counted = {
  turn: nothing,
  compaction: { ...nothing, calls: 1, readFactor: 1, outputTokens: 100, snapshotTokens: 1_000 },
};
const dialogue: Dialogue = {
  turns: 10,
  overheadTokens: 0,
  messageTokens: 1_000,
  answerTokens: 1_000,
  hitFraction: 0,
};
const never: Strategy = {
  thresholdTokens: Infinity,
  tailTokens: () => 0,
  recalledTokens: 0,
  counted,
};
const given = { chat: price, summariser: price, cloud, windowTokens: 1_000_000 };

test.each([
  { call: { promptTokens: 1_000_000, cachedTokens: 0, outputTokens: 0 }, dollars: 2 },
  { call: { promptTokens: 200_000, cachedTokens: 0, outputTokens: 0 }, dollars: 0.2 },
  { call: { promptTokens: 100_000, cachedTokens: 50_000, outputTokens: 0 }, dollars: 0.055 },
  { call: { promptTokens: 0, cachedTokens: 0, outputTokens: 100_000 }, dollars: 1 },
  { call: { promptTokens: 200_001, cachedTokens: 0, outputTokens: 100_000 }, dollars: 2.400_002 },
])('a call of $call costs $dollars', ({ call, dollars }) => {
  expect(callDollars(price, call)).toBeCloseTo(dollars, 9);
});

test('each operation has its price', () => {
  expect(operationDollars({ reads: 1, writes: 2, deletes: 3, messages: 4 }, cloud)).toBe(4_321);
});

describe('the bill of a conversation', () => {
  test('grows with the square of its length where nothing is folded', () => {
    const { chat, peakTokens, compactionCount } = billOf(dialogue, never, given);

    // 1 + 3 + … + 19 thousand tokens read, 10 thousand written, for ten turns.
    expect(chat).toBeCloseTo(((100_000 + 100_000) / 1e6) * 100, 9);
    expect({ peakTokens, compactionCount }).toEqual({ peakTokens: 19_000, compactionCount: 0 });
  });

  test('discounts what the prompt before had, from 4,096 tokens on', () => {
    const cached = billOf({ ...dialogue, hitFraction: 1 }, never, given);

    // Prompts of 1 and 3 thousand are not cached; the others read 2,000 new tokens each.
    const read =
      4_000 + 8 * 2_000 + 0.1 * (3_000 + 5_000 + 7_000 + 9_000 + 11_000 + 13_000 + 15_000 + 17_000);
    expect(cached.chat).toBeCloseTo(((read + 100_000) / 1e6) * 100, 9);
  });

  test('counts each compaction with its calls, and goes on from snapshot and tail', () => {
    const fold: Strategy = { ...never, thresholdTokens: 8_000, tailTokens: () => 1_000 };

    const { compactions, compactionCount, peakTokens } = billOf(dialogue, fold, given);

    // 8,000 after turn 4; then 2,000 left, 8,000 again after three more turns.
    expect(compactionCount).toBe(3);
    expect(peakTokens).toBe(7_000);
    expect(compactions).toBeCloseTo(((3 * (8_000 + 10 * 100)) / 1e6) * 100, 9);
  });

  test('pays in full for what messages bring back, once something is folded', () => {
    const fold: Strategy = { ...never, thresholdTokens: 8_000, tailTokens: () => 1_000 };
    const hit = { ...dialogue, hitFraction: 1 };

    const without = billOf(hit, fold, given);
    const recalling = billOf(hit, { ...fold, recalledTokens: 500 }, given);

    // All but the first four turns.
    expect(recalling.recall).toBeCloseTo(((6 * 500) / 1e6) * 100, 9);
    expect(recalling.total - without.total).toBeCloseTo(recalling.recall, 9);
    expect([without.recall, recalling.peakTokens]).toEqual([0, 7_500]);
  });

  test('never reads more than the window', () => {
    expect(billOf(dialogue, never, { ...given, windowTokens: 5_000 }).peakTokens).toBe(5_000);
  });

  test('has the operations of every turn and of every compaction', () => {
    const busy = {
      turn: { ...nothing, reads: 4 },
      compaction: { ...counted.compaction, writes: 5 },
    };
    const fold = {
      ...never,
      thresholdTokens: 8_000,
      tailTokens: () => 1_000,
      counted: busy,
    };

    expect(billOf(dialogue, fold, given).operations).toBeCloseTo((10 * 4 + 3 * 50) * 100, 6);
  });
});

describe('the grid', () => {
  test('leaves out tails that leave no room, and knows its cheapest point', () => {
    const grid = gridOf([4_000, 8_000], [2_000, 4_000], (threshold, tail) => threshold - tail);

    expect(grid).toHaveLength(3);
    expect(cheapest(grid)).toEqual({ thresholdTokens: 4_000, tailTokens: 2_000, total: 2_000 });
  });

  test('that is empty has none', () => {
    expect(() => cheapest([])).toThrow(RangeError);
  });
});
