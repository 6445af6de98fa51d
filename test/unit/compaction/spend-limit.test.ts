import {
  reachedSpendLimit,
  spentAfter,
  SPENT_RUNS_KEPT,
  type SpentRun,
} from '#shared/compaction/brakes.ts';
import { describe, expect, test } from 'vitest';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const now = new Date('2026-01-02T12:00:00.000Z');

/** Runs that ended so many minutes ago, oldest first, and took so many tokens each. */
const runs = (minutesAgo: readonly number[], tokens = 10): SpentRun[] =>
  minutesAgo.map((minutes) => ({ at: new Date(now.getTime() - minutes * MINUTE_MS), tokens }));

describe('what a conversation may spend on compactions', () => {
  test.each([
    ['nothing was spent', [], undefined],
    ['fewer runs than the limit', runs([50, 40, 10]), undefined],
    ['runs of an earlier hour', runs([61, 60, 60, 60, 59]), undefined],
    [
      'as many as the limit in the last hour',
      runs([55, 50, 40, 10]),
      { limit: 'RUNS_PER_HOUR', retryAfterMs: 5 * MINUTE_MS },
    ],
    [
      'more than the limit: the second oldest must be an hour old',
      runs([59, 54, 50, 40, 10]),
      { limit: 'RUNS_PER_HOUR', retryAfterMs: 6 * MINUTE_MS },
    ],
    ['tokens below the limit of the day', runs([600, 500], 499), undefined],
    [
      'as many tokens as the limit of the day',
      runs([600, 500], 500),
      { limit: 'DAILY_TOKENS', retryAfterMs: 14 * HOUR_MS },
    ],
    [
      'both: the longer wait counts',
      runs([55, 50, 40, 10], 300),
      { limit: 'DAILY_TOKENS', retryAfterMs: 24 * HOUR_MS - 55 * MINUTE_MS },
    ],
    ['tokens of the day before', runs([1_440], 5_000), undefined],
  ])('a conversation’s spending limit for compactions: %s', (_, spent, expected) => {
    expect(reachedSpendLimit(spent, { runsPerHour: 4, dailyTokens: 1_000 }, now)).toEqual(expected);
  });

  test('a spending limit of 0 for compactions is no limit', () => {
    const spent = runs([5, 4, 3, 2, 1], 1_000_000);

    expect(reachedSpendLimit(spent, { runsPerHour: 0, dailyTokens: 0 }, now)).toBeUndefined();
  });
});

describe('what is remembered of runs', () => {
  test('a compaction run without a model call is not remembered', () => {
    expect(spentAfter([], { at: now, tokens: 0, calls: 0 })).toEqual([]);
  });

  test('a failed compaction run is remembered with its tokens', () => {
    expect(spentAfter([], { at: now, tokens: 70, calls: 1 })).toEqual([{ at: now, tokens: 70 }]);
  });

  test('compaction runs older than a day are forgotten', () => {
    const spent = runs([2_000, 1_441, 30]);

    expect(spentAfter(spent, { at: now, tokens: 5, calls: 1 })).toHaveLength(2);
  });

  test('remembered runs beyond the maximum number keep all their tokens', () => {
    const spent = runs(Array.from({ length: SPENT_RUNS_KEPT }, () => 30));

    const after = spentAfter(spent, { at: now, tokens: 10, calls: 1 });

    expect(after).toHaveLength(SPENT_RUNS_KEPT);
    expect(after.reduce((sum, { tokens }) => sum + tokens, 0)).toBe((SPENT_RUNS_KEPT + 1) * 10);
  });
});
