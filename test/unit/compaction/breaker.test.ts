import { describe, expect, test } from 'vitest';
import {
  breakerAfter,
  closedBreaker,
  isBreakerClosed,
  type Breaker,
} from '../../../shared/compaction/breaker.ts';
import type { OutcomeState } from '../../../shared/compaction/outcome-state.ts';

const now = new Date('2026-03-01T10:00:00Z');
const inHalfAnHour = new Date('2026-03-01T10:30:00Z');
const options = { now, policy: { breakerFailures: 3, breakerOpenMs: 1_800_000 } };

describe('breakerAfter', () => {
  test.each<[OutcomeState, number]>([
    ['FAILED_INFLATED_TOKEN_COUNT', 2],
    ['FAILED_TOKEN_COUNT_ERROR', 2],
    ['FAILED_EMPTY_SUMMARY', 2],
    ['FAILED_VERIFICATION', 2],
    ['FAILED_ERROR', 2],
    ['COMPACTED', 0],
    ['NOOP', 1],
    ['CONTENT_TRUNCATED', 1],
    ['ABORTED', 1],
    ['SUPERSEDED', 1],
  ])('%s after one failure: %i', (state, failures) => {
    const breaker = breakerAfter(
      { failures: 1, openUntil: null },
      { state, trigger: 'auto' },
      options,
    );

    expect(breaker).toEqual({ failures, openUntil: null });
  });

  test('opens at the third failure in a row', () => {
    const failed = { state: 'FAILED_ERROR', trigger: 'auto' } as const;
    let breaker: Breaker = closedBreaker;

    for (let count = 0; count < 3; count++) breaker = breakerAfter(breaker, failed, options);

    expect(breaker).toEqual({ failures: 3, openUntil: inHalfAnHour });
  });

  test('opens again at once when the one try after the pause fails', () => {
    const halfOpen = { failures: 3, openUntil: now };

    const breaker = breakerAfter(halfOpen, { state: 'FAILED_ERROR', trigger: 'auto' }, options);

    expect(breaker.openUntil).toEqual(inHalfAnHour);
  });

  test('a failed manual run does not count, a successful one closes', () => {
    const open = { failures: 3, openUntil: inHalfAnHour };

    expect(breakerAfter(open, { state: 'FAILED_ERROR', trigger: 'manual' }, options)).toBe(open);
    expect(breakerAfter(open, { state: 'COMPACTED', trigger: 'manual' }, options)).toEqual(
      closedBreaker,
    );
  });
});

describe('isBreakerClosed', () => {
  test.each([
    ['never opened', null, true],
    ['open', inHalfAnHour, false],
    ['pause over', now, true],
  ])('%s', (_, openUntil, isClosed) => {
    expect(isBreakerClosed({ failures: 3, openUntil }, now)).toBe(isClosed);
  });
});
