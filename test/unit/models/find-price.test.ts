import { describe, expect, test } from 'vitest';
import { costMicros, dearestPrice, knownPrice, findPrice } from '#shared/models/find-price.ts';
import { verifiedModels } from '#test/support/verified-models.ts';

const call = { promptTokens: 10_000, cachedTokens: 6_000, outputTokens: 1_000 };
const on = (day: string) => ({ ...verifiedModels, now: new Date(day) });

describe('the price of a model', () => {
  test.each([
    ['gemini-2.5-flash', 0.3, 2.5],
    ['models/gemini-2.5-flash', 0.3, 2.5],
    ['gemini-2.5-flash-001', 0.3, 2.5],
    ['gemini-2.5-flash-lite', 0.1, 0.4],
    ['gemini-3.1-pro-preview', 2, 12],
  ])('the price of a model: %s costs %d and %d', (model, input, output) => {
    expect(knownPrice(model, verifiedModels)).toMatchObject({ input, output });
  });

  test.each([
    ['2026-07-20', 1.5],
    ['2026-08-12', 1.5],
    ['2026-08-13', 0.75],
    ['2026-12-31T23:59:59.999Z', 0.75],
    ['2027-01-01', 1.5],
  ])('the price of a model on %s is the one of that day', (day, input) => {
    expect(knownPrice('gemini-3.6-flash', on(day))?.input).toBe(input);
  });

  test.each([
    'gemini-2.5-flash-image',
    'gemini-2.5-flash-preview-tts',
    'gemini-9-pro',
    'claude',
    '',
  ])('an unknown model %j is billed at the highest price', (model) => {
    expect(knownPrice(model, verifiedModels)).toBeUndefined();
    expect(findPrice(model, verifiedModels)).toEqual(dearestPrice(verifiedModels));
  });
});

describe('the dearest price', () => {
  test('the highest price is no lower than any other in the registry', () => {
    const { input, cached, output } = dearestPrice(verifiedModels);

    const dearer = Object.keys(verifiedModels.models).filter((model) => {
      const price = findPrice(model, verifiedModels);
      return [price, price.above ?? price].some(
        (rates) => rates.input > input || rates.cached > cached || rates.output > output,
      );
    });

    expect(dearer).toEqual([]);
  });

  test('the highest price may be one of the deployment’s own', () => {
    const prices = { 'house-model': { input: 100, cached: 1, output: 100 } };

    expect(dearestPrice({ ...verifiedModels, prices })).toEqual(prices['house-model']);
  });
});

const flash = { model: 'gemini-2.5-flash', ...call };
const pro = { model: 'gemini-2.5-pro', cachedTokens: 0, outputTokens: 0 };

test.each([
  ['cached tokens cost less', flash, 1_200 + 180 + 2_500],
  ['nothing cached', { ...flash, cachedTokens: 0 }, 3_000 + 2_500],
  ['a prompt of 200,000 tokens costs the lower price', { ...pro, promptTokens: 200_000 }, 250_000],
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
  [
    'a model without a price costs what the dearest does',
    { ...call, model: 'gemini-9' },
    8 * 2_000 + 0.4 * 6_000 + 18 * 1_000,
  ],
])('the cost of a call in millionths of a dollar: %s', (_, priced, expected) => {
  expect(costMicros(priced, verifiedModels)).toBe(expected);
});
