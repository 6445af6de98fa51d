import {
  breakerAfter,
  closedBreaker,
  isBreakerClosed,
  type Breaker,
} from '#shared/compaction/brakes.ts';
import type { OutcomeState } from '#shared/compaction/outcome.ts';
import { describe, expect, test } from 'vitest';

const now = new Date('2026-03-01T10:00:00Z');
const inHalfAnHour = new Date('2026-03-01T10:30:00Z');
const policy = { breakerFailures: 3, breakerOpenMs: 1_800_000, onlyInflationCounts: false };
const options = { now, tokens: 10_000, policy };
const open = { failures: 3, openUntil: inHalfAnHour, openedAtTokens: 10_000 };

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
  ])('breakerAfter for %s after one failure is %i', (state, failures) => {
    const breaker = breakerAfter(
      { failures: 1, openUntil: null },
      { state, trigger: 'auto' },
      options,
    );

    expect(breaker).toEqual({ failures, openUntil: null });
  });

  test('breakerAfter opens at the third failure in a row', () => {
    const failed = { state: 'FAILED_ERROR', trigger: 'auto' } as const;
    let breaker: Breaker = closedBreaker;

    for (let count = 0; count < 3; count++) breaker = breakerAfter(breaker, failed, options);

    expect(breaker).toEqual(open);
  });

  test('breakerAfter reopens at once when the try after the pause fails', () => {
    const halfOpen = { failures: 3, openUntil: now };

    const breaker = breakerAfter(halfOpen, { state: 'FAILED_ERROR', trigger: 'auto' }, options);

    expect(breaker.openUntil).toEqual(inHalfAnHour);
  });

  test('breakerAfter ignores a failed manual run and closes after a successful one', () => {
    expect(breakerAfter(open, { state: 'FAILED_ERROR', trigger: 'manual' }, options)).toBe(open);
    expect(breakerAfter(open, { state: 'COMPACTED', trigger: 'manual' }, options)).toEqual(
      closedBreaker,
    );
  });

  test('breakerAfter does not count a summary that saves too little as a failure', () => {
    const outcome = {
      state: 'FAILED_INFLATED_TOKEN_COUNT',
      reason: 'SAVES_TOO_LITTLE',
      trigger: 'auto',
    } as const;

    expect(breakerAfter(closedBreaker, outcome, options)).toBe(closedBreaker);
  });

  test.each<[OutcomeState, boolean]>([
    ['FAILED_INFLATED_TOKEN_COUNT', true],
    ['FAILED_TOKEN_COUNT_ERROR', false],
    ['FAILED_EMPTY_SUMMARY', false],
    ['FAILED_VERIFICATION', false],
    ['FAILED_ERROR', false],
  ])('breakerAfter in the gemini-cli profile: %s opens it at once: %s', (state, opens) => {
    const peer = { ...policy, breakerFailures: 1, onlyInflationCounts: true };

    const breaker = breakerAfter(
      closedBreaker,
      { state, trigger: 'auto' },
      { ...options, policy: peer },
    );

    expect(breaker.openUntil !== null).toBe(opens);
  });
});

test.each([
  ['never opened', { openUntil: null }, 90_000, true],
  ['open', {}, 14_999, false],
  ['the pause is over', { openUntil: now }, 10_000, true],
  ['the conversation has grown by half', {}, 15_000, true],
  ['opened by a version that did not note the size', { openedAtTokens: undefined }, 90_000, false],
])('isBreakerClosed: %s', (...[, state, tokens, isClosed]) => {
  expect(isBreakerClosed({ ...open, ...state }, { now, tokens })).toBe(isClosed);
});
