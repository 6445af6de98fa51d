import { describe, expect, test } from 'vitest';
import { listSteps } from './conversation.ts';
import { billFolds, nextCall, placeAfterSwap, summariserCalls } from './bill.ts';

const nothing = { reads: 0, writes: 0, deletes: 0, messages: 0 };
const model = { price: { input: 1, cached: 0.1, output: 10 }, cacheFromTokens: 4_096 };
const rates = {
  model,
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

describe('the next call of a conversation', () => {
  const settings = { overheadTokens: 500, hitFraction: 0.5 };
  const step = { inputTokens: 100, outputTokens: 300, isTurnStart: true, isTurnEnd: true };
  const place = { contextTokens: 9_000, sharedTokens: 9_200, turnSharedTokens: 8_000 };
  const from = { ...place, recalledTokens: 0, windowTokens: 100_000, cacheFromTokens: 4_096 };

  test('reads the whole context, and half of what it shares with the one before from the cache', () => {
    expect(nextCall(settings, step, from)).toEqual({
      call: { promptTokens: 9_600, cachedTokens: 4_600, outputTokens: 300 },
      place: { contextTokens: 9_400, sharedTokens: 9_600, turnSharedTokens: 9_500 },
    });
  });

  test('shares only instruction and tools with the one before a swap, which is too short to be cached', () => {
    const { call } = nextCall(settings, step, { ...from, ...placeAfterSwap(9_000, 500) });

    expect(call).toEqual({ promptTokens: 9_600, cachedTokens: 0, outputTokens: 300 });
  });

  test('pays for what is recalled, and the next turn shares nothing behind it', () => {
    const { call, place: after } = nextCall(settings, step, { ...from, recalledTokens: 700 });

    expect(call).toEqual({ promptTokens: 10_300, cachedTokens: 4_600, outputTokens: 300 });
    expect(after).toEqual({ contextTokens: 9_400, sharedTokens: 9_500, turnSharedTokens: 9_500 });
  });

  test('shares what is recalled with the next call of its turn', () => {
    const inTurn = { ...step, isTurnEnd: false };

    expect(nextCall(settings, inTurn, { ...from, recalledTokens: 700 }).place).toEqual({
      contextTokens: 9_400,
      sharedTokens: 10_300,
      turnSharedTokens: 9_500,
    });
  });

  test('drops what the window has no room for, and is new to the cache then', () => {
    expect(nextCall(settings, step, { ...from, windowTokens: 5_000 }).call).toEqual({
      promptTokens: 5_000,
      cachedTokens: 0,
      outputTokens: 300,
    });
  });
});

describe('the calls of a summariser', () => {
  const single = {
    instructionTokens: 2_000,
    outputTokens: 500,
    snapshotTokens: 800,
    isChecked: false,
  };
  const cache = { hitFraction: 0.5, cacheFromTokens: 4_096 };

  test('are two where one checks the other: it reads prompt and answer again, the prompt from the cache', () => {
    const checked = { ...single, isChecked: true };

    expect(summariserCalls(checked, 10_000, cache)).toEqual([
      { promptTokens: 12_000, cachedTokens: 0, outputTokens: 500 },
      { promptTokens: 12_500, cachedTokens: 6_000, outputTokens: 500 },
    ]);
  });
});
