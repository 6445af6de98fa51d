import { describe, expect, test } from 'vitest';
import { listSteps } from './conversation.ts';
import { billFolds } from './fold-cost.ts';

const nothing = { reads: 0, writes: 0, deletes: 0, messages: 0 };
const model = { price: { input: 1, cached: 0.1, output: 10 }, cacheFromTokens: 4_096 };
const rates = {
  chat: model,
  summary: model,
  cloud: { perRead: 1, perWrite: 10, perDelete: 100, perMessage: 1_000 },
  windowTokens: 1_000_000,
};
const summariser = {
  instructionTokens: 500,
  outputTokens: 100,
  snapshotTokens: 1_000,
  isChecked: false,
};
const means = { summariser, recalledTokens: 0, turn: nothing, compaction: nothing };
const conversation = {
  steps: listSteps([[1_000, 1_000]], 10),
  turns: 10,
  overheadTokens: 0,
  hitFraction: 0,
};
/** US dollars of so many tokens at a dollar a million, for a thousand turns of ten. */
const perThousand = (tokens: number) => (tokens / 1e6) * 100;

describe('the bill of a conversation', () => {
  test('grows with the square of its length where nothing is folded', () => {
    const bill = billFolds(conversation, [], { rates, means });

    // 1 + 3 + … + 19 thousand tokens read, 10 thousand written.
    expect(bill.chat).toBeCloseTo(perThousand(100_000 + 10 * 10_000), 9);
    expect(bill).toMatchObject({ compactions: 0, compactionCount: 0, peakTokens: 19_000 });
  });

  test('discounts what the prompt before had, from 4,096 tokens on', () => {
    const hit = { ...conversation, hitFraction: 1 };

    const { chat } = billFolds(hit, [], { rates, means });

    // Prompts of 1 and 3 thousand are too short to be cached; of the others 2,000 tokens are new, but of the third all.
    const read = 1_000 + 3_000 + 5_000 + 7 * 2_000 + 0.1 * (5 + 7 + 9 + 11 + 13 + 15 + 17) * 1_000;
    expect(chat).toBeCloseTo(perThousand(read + 10 * 10_000), 9);
  });

  test('discounts shorter prompts with a model whose cache begins sooner', () => {
    const hit = { ...conversation, hitFraction: 1 };
    const soon = { ...rates, chat: { ...model, cacheFromTokens: 2_048 } };

    const saved = billFolds(hit, [], { rates, means }).chat;

    // The third prompt has the 3,000 tokens of the second one.
    expect(saved - billFolds(hit, [], { rates: soon, means }).chat).toBeCloseTo(
      perThousand(0.9 * 3_000),
      9,
    );
  });

  test('goes on from snapshot and tail, and has the calls of each compaction', () => {
    const folds = [
      { end: 4, start: 3 },
      { end: 7, start: 6 },
    ];

    const bill = billFolds(conversation, folds, { rates, means });

    // 1, 3, 5, 7; then 1 + 2 + 1 thousand, 6, 8; again 4, 6, 8.
    expect(bill.chat).toBeCloseTo(perThousand((16 + 18 + 18) * 1_000 + 10 * 10_000), 9);
    expect(bill.peakTokens).toBe(8_000);
    // Three turns of 2,000 tokens; a snapshot of 1,000 and three turns more; each with 500 of instruction.
    expect(bill.compactions).toBeCloseTo(perThousand(6_500 + 7_500 + 2 * 10 * 100), 9);
    expect(bill.compactionCount).toBe(200);
  });

  test('pays for a compaction that was refused, and goes on as before', () => {
    const folds = [{ end: 4, start: 3, isRefused: true }];

    const bill = billFolds(conversation, folds, { rates, means });

    expect(bill.compactions).toBeCloseTo(perThousand(6_500 + 1_000), 9);
    expect(bill.chat).toBe(billFolds(conversation, [], { rates, means }).chat);
  });

  test('pays for what messages bring back, once something is folded', () => {
    const folds = [{ end: 4, start: 3 }];
    const recalling = { ...means, recalledTokens: 500 };

    const without = billFolds(conversation, folds, { rates, means });
    const bill = billFolds(conversation, folds, { rates, means: recalling });

    expect(bill.chat - without.chat).toBeCloseTo(perThousand(6 * 500), 9);
  });

  test('has the operations of every turn, not of every call, and of every compaction', () => {
    const withTools = { ...conversation, steps: listSteps([[1_000, 500, 200, 300]], 10) };
    const busy = {
      ...means,
      turn: { ...nothing, reads: 4 },
      compaction: { ...nothing, writes: 5 },
    };

    const bill = billFolds(withTools, [{ end: 4, start: 2 }], { rates, means: busy });

    expect(bill.operations).toBeCloseTo((10 * 4 + 50) * 100, 6);
  });
});
