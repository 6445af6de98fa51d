import { describe, expect, test } from 'vitest';
import { costMicros, listPrices, priceOf } from '../../../shared/compaction/prices.ts';

const call = { promptTokens: 10_000, cachedTokens: 6_000, outputTokens: 1_000 };

describe('the price of a model', () => {
  test.each([
    ['gemini-2.5-flash', 'gemini-2.5-flash'],
    ['models/gemini-2.5-flash', 'gemini-2.5-flash'],
    ['gemini-2.5-flash-lite', 'gemini-2.5-flash-lite'],
    ['gemini-2.5-flash-001', 'gemini-2.5-flash'],
    ['gemini-2.5-flash-preview-09-2025', 'gemini-2.5-flash'],
    ['gemini-3.1-pro-preview', 'gemini-3.1-pro'],
  ])('%s is that of %s', (model, named) => {
    expect(priceOf(model)).toBe(listPrices[named]);
  });

  test.each(['gemini-3.5-flash-lite', 'gemini-2.5-flash-image', 'gemini-9-pro', 'claude', ''])(
    'of %j is not known',
    (model) => {
      expect(priceOf(model)).toBeUndefined();
    },
  );

  test('is the deployment’s own where it gives one', () => {
    const own = { 'gemini-2.5-flash': { input: 1, cached: 1, output: 1 } };

    expect(priceOf('gemini-2.5-flash', own)).toBe(own['gemini-2.5-flash']);
    expect(priceOf('gemini-2.5-pro', own)).toBe(listPrices['gemini-2.5-pro']);
  });
});

describe('what a call costs, in millionths of a dollar', () => {
  const flash = { model: 'gemini-2.5-flash', ...call };
  const pro = { model: 'gemini-2.5-pro', cachedTokens: 0, outputTokens: 0 };

  test.each([
    ['cached tokens cost less', flash, 1_200 + 180 + 2_500],
    ['nothing cached', { ...flash, cachedTokens: 0 }, 3_000 + 2_500],
    [
      'a prompt of 200,000 tokens costs the lower price',
      { ...pro, promptTokens: 200_000 },
      250_000,
    ],
    [
      'all tokens of a longer one cost the higher price',
      { ...pro, promptTokens: 200_001, outputTokens: 100 },
      Math.round(200_001 * 2.5 + 1_500),
    ],
    [
      'more cached tokens than prompt are no refund',
      { ...flash, promptTokens: 100, cachedTokens: 500, outputTokens: 0 },
      3,
    ],
  ])('%s', (_, priced, expected) => {
    expect(costMicros(priced)).toBe(expected);
  });

  test('is not known where the price is not', () => {
    expect(costMicros({ model: 'gemini-9', ...call })).toBeUndefined();
  });
});
