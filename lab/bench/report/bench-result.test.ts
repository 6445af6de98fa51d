import { describe, expect, test } from 'vitest';
import type { BenchCase } from '../bench-case.ts';
import { isMet, resultOf } from './bench-result.ts';

const benchCase: BenchCase = {
  name: 'work',
  unit: 'ms',
  referenceName: 'the same by hand',
  direction: 'atMost',
  aim: 1.5,
  ours: () => 0,
  reference: () => 0,
};

describe('the result of a benchmark', () => {
  test('compares medians, so that one slow sample changes nothing', () => {
    const result = resultOf(benchCase, {
      group: 'speed',
      ours: [12, 900, 10],
      reference: [9, 8, 300],
    });

    expect(result).toMatchObject({ ours: 12, reference: 9, samples: 3, met: true });
    expect(result.ratio).toBeCloseTo(4 / 3);
    expect(result.spread).toBeCloseTo(890 / 12);
  });

  test('takes the middle of two middle samples', () => {
    expect(
      resultOf(benchCase, { group: 'speed', ours: [1, 2, 4, 100], reference: [2] }),
    ).toMatchObject({
      ours: 3,
      ratio: 1.5,
      met: true,
    });
  });

  test('is judged by nothing where nothing was promised', () => {
    const { direction: _direction, aim: _aim, ...promisedNothing } = benchCase;

    const result = resultOf(promisedNothing, { group: 'speed', ours: [1], reference: [2] });

    expect(result.ratio).toBe(0.5);
    expect(result).not.toHaveProperty('met');
    expect(result).not.toHaveProperty('aim');
  });

  test('is no number as soon as one sample is none, and keeps no aim', () => {
    const result = resultOf(benchCase, {
      group: 'speed',
      ours: [1, 1, 1],
      reference: [9, Number.NaN, 9],
    });

    expect(result).toMatchObject({ ratio: Number.NaN, met: false });
  });

  test('refuses to judge without samples', () => {
    expect(() => resultOf(benchCase, { group: 'speed', ours: [], reference: [1] })).toThrow(
      'work has no samples',
    );
  });

  test.each([
    { direction: 'atMost', aim: 1.5, ratio: 1.5, met: true },
    { direction: 'atMost', aim: 1.5, ratio: 1.51, met: false },
    { direction: 'atLeast', aim: 0.8, ratio: 0.8, met: true },
    { direction: 'atLeast', aim: 0.8, ratio: 0.79, met: false },
    { direction: 'atMost', aim: 1.5, ratio: Number.NaN, met: false },
    { direction: 'atLeast', aim: 0.8, ratio: Number.NaN, met: false },
  ] as const)('$direction $aim: a ratio of $ratio is $met', ({ ratio, met, ...aim }) => {
    expect(isMet(ratio, aim)).toBe(met);
  });
});
