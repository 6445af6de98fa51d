import { breakEvenTurns, USUAL_PRICES } from '#shared/compaction/trigger.ts';
import { describe, expect, test } from 'vitest';

const usual = {
  tokensBefore: 20_000,
  tokensAfter: 6_400,
  summaryTokens: 2_400,
  prices: USUAL_PRICES,
};

describe('a compaction has paid for itself', () => {
  test('a compaction is paid back after its cost divided by each turn’s saving', () => {
    const cost = 20_000 + 6 * 2_400 + 0.9 * 6_400;

    expect(breakEvenTurns(usual)).toBeCloseTo(cost / (0.1 * 13_600), 9);
  });

  test.each([
    ['without a cache', { ...usual, prices: { ...USUAL_PRICES, cachedFraction: 1 } }],
    ['with a cheaper summariser', { ...usual, prices: { ...USUAL_PRICES, summariserInput: 0.1 } }],
    ['when less is left', { ...usual, tokensAfter: 3_000 }],
    ['when the summary is shorter', { ...usual, summaryTokens: 500 }],
  ])('a compaction is paid back earlier %s', (_, compaction) => {
    expect(breakEvenTurns(compaction)).toBeLessThan(breakEvenTurns(usual));
  });

  test.each([20_000, 30_000])(
    'a compaction is never paid back when %i tokens of 20,000 are left',
    (tokensAfter) => {
      expect(breakEvenTurns({ ...usual, tokensAfter })).toBe(Infinity);
    },
  );
});
