import { describe, expect, test } from 'vitest';
import type { ModelPrice } from '#shared/models/model-entry.ts';
import { callDollars, nextCall, placeAfterSwap, summariserCalls } from './call-cost.ts';

const price: ModelPrice = {
  input: 1,
  cached: 0.1,
  output: 10,
  above: { promptTokens: 200_000, input: 2, cached: 0.2, output: 20 },
};

test.each([
  { call: { promptTokens: 1_000_000, cachedTokens: 0, outputTokens: 0 }, dollars: 2 },
  { call: { promptTokens: 200_000, cachedTokens: 0, outputTokens: 0 }, dollars: 0.2 },
  { call: { promptTokens: 100_000, cachedTokens: 50_000, outputTokens: 0 }, dollars: 0.055 },
  { call: { promptTokens: 0, cachedTokens: 0, outputTokens: 100_000 }, dollars: 1 },
  { call: { promptTokens: 200_001, cachedTokens: 0, outputTokens: 100_000 }, dollars: 2.400_002 },
])('a call of $call costs $dollars', ({ call, dollars }) => {
  expect(callDollars(price, call)).toBeCloseTo(dollars, 9);
});

describe('the next call of a conversation', () => {
  const conversation = { overheadTokens: 500, hitFraction: 0.5 };
  const step = { inputTokens: 100, outputTokens: 300, isTurnStart: true, isTurnEnd: true };
  const place = { contextTokens: 9_000, sharedTokens: 9_200, turnSharedTokens: 8_000 };
  const from = { ...place, recalledTokens: 0, windowTokens: 100_000, cacheFromTokens: 4_096 };

  test('reads the whole context, and half of what it shares with the one before from the cache', () => {
    expect(nextCall(conversation, step, from)).toEqual({
      call: { promptTokens: 9_600, cachedTokens: 4_600, outputTokens: 300 },
      place: { contextTokens: 9_400, sharedTokens: 9_600, turnSharedTokens: 9_500 },
    });
  });

  test('shares only instruction and tools with the one before a swap, which is too short to be cached', () => {
    const { call } = nextCall(conversation, step, { ...from, ...placeAfterSwap(9_000, 500) });

    expect(call).toEqual({ promptTokens: 9_600, cachedTokens: 0, outputTokens: 300 });
  });

  test('finds a long instruction in the cache even after a swap', () => {
    const long = { ...conversation, overheadTokens: 6_000 };

    const { call } = nextCall(long, step, { ...from, ...placeAfterSwap(9_000, 6_000) });

    expect(call.cachedTokens).toBe(3_000);
  });

  test('pays for what is recalled, and the next turn shares nothing behind it', () => {
    const { call, place: after } = nextCall(conversation, step, { ...from, recalledTokens: 700 });

    expect(call).toEqual({ promptTokens: 10_300, cachedTokens: 4_600, outputTokens: 300 });
    expect(after).toEqual({ contextTokens: 9_400, sharedTokens: 9_500, turnSharedTokens: 9_500 });
  });

  test('shares what is recalled with the next call of its turn', () => {
    const inTurn = { ...step, isTurnEnd: false };

    expect(nextCall(conversation, inTurn, { ...from, recalledTokens: 700 }).place).toEqual({
      contextTokens: 9_400,
      sharedTokens: 10_300,
      turnSharedTokens: 9_500,
    });
  });

  test('drops what the window has no room for, and is new to the cache then', () => {
    expect(nextCall(conversation, step, { ...from, windowTokens: 5_000 }).call).toEqual({
      promptTokens: 5_000,
      cachedTokens: 0,
      outputTokens: 300,
    });
  });
});

describe('the calls of a summariser', () => {
  const summariser = {
    instructionTokens: 2_000,
    outputTokens: 500,
    snapshotTokens: 800,
    isChecked: false,
  };
  const cache = { hitFraction: 0.5, cacheFromTokens: 4_096 };

  test('is one that reads its instruction and what is folded', () => {
    expect(summariserCalls(summariser, 10_000, cache)).toEqual([
      { promptTokens: 12_000, cachedTokens: 0, outputTokens: 500 },
    ]);
  });

  test('are two where one checks the other: it reads prompt and answer again, the prompt from the cache', () => {
    const checked = { ...summariser, isChecked: true };

    expect(summariserCalls(checked, 10_000, cache)).toEqual([
      { promptTokens: 12_000, cachedTokens: 0, outputTokens: 500 },
      { promptTokens: 12_500, cachedTokens: 6_000, outputTokens: 500 },
    ]);
  });
});
