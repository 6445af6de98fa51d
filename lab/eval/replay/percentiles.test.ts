import { describe, expect, test } from 'vitest';
import { percentile, spread } from './percentiles.ts';

describe('percentile', () => {
  test.each([
    { values: [5], percent: 50, expected: 5 },
    { values: [1, 2, 3, 4], percent: 50, expected: 2 },
    { values: [4, 1, 3, 2], percent: 100, expected: 4 },
    { values: Array.from({ length: 100 }, (_, i) => i + 1), percent: 95, expected: 95 },
    { values: [7, 9], percent: 0, expected: 7 },
  ])('$percent % of $values.length values is $expected', ({ values, percent, expected }) => {
    expect(percentile(values, percent)).toBe(expected);
  });

  test('has no value where there is nothing to order', () => {
    expect(percentile([], 50)).toBeUndefined();
  });
});

describe('spread', () => {
  test('rounds to whole milliseconds', () => {
    expect(spread([1.4, 2.6, 3.2])).toEqual({ n: 3, p50Ms: 3, p95Ms: 3 });
  });

  test('is null where nothing was measured', () => {
    expect(spread([])).toEqual({ n: 0, p50Ms: null, p95Ms: null });
  });
});
