import type { CompactionOutcome, OutcomeState } from './outcome-state.ts';
import type { CompactionPolicy } from './policy.ts';

/** Stored per conversation: stops paying for compactions that keep failing. */
export interface Breaker {
  /** Failures in a row. */
  failures: number;
  /** While this lies ahead, no model is called; null = closed. */
  openUntil: Date | null;
}

export const closedBreaker: Breaker = Object.freeze({ failures: 0, openUntil: null });

/** Whether an automatic compaction may call the model: closed, or half open (one try after the pause). */
export function isBreakerClosed(breaker: Breaker, now: Date): boolean {
  return breaker.openUntil === null || breaker.openUntil.getTime() <= now.getTime();
}

function afterFailure(
  breaker: Breaker,
  options: { now: Date; policy: Pick<CompactionPolicy, 'breakerFailures' | 'breakerOpenMs'> },
): Breaker {
  const { now, policy } = options;
  const failures = breaker.failures + 1;
  // The count stays after the pause, so the one try of the half-open state opens it again at once.
  return failures < policy.breakerFailures
    ? { failures, openUntil: null }
    : { failures, openUntil: new Date(now.getTime() + policy.breakerOpenMs) };
}

const effects: Readonly<Record<OutcomeState, 'closes' | 'counts' | 'none'>> = {
  COMPACTED: 'closes',
  FAILED_INFLATED_TOKEN_COUNT: 'counts',
  FAILED_TOKEN_COUNT_ERROR: 'counts',
  FAILED_EMPTY_SUMMARY: 'counts',
  FAILED_VERIFICATION: 'counts',
  FAILED_ERROR: 'counts',
  QUEUED: 'none',
  RUNNING: 'none',
  VERIFYING: 'none',
  NOOP: 'none',
  CONTENT_TRUNCATED: 'none',
  ABORTED: 'none',
  SUPERSEDED: 'none',
};

/**
 * The breaker after an outcome. COMPACTED closes it, whoever asked; each FAILED_* of an automatic run
 * counts, one of a manual run does not; all other states leave it as it is.
 */
export function breakerAfter(
  breaker: Breaker,
  outcome: Pick<CompactionOutcome, 'state' | 'trigger'>,
  options: { now: Date; policy: Pick<CompactionPolicy, 'breakerFailures' | 'breakerOpenMs'> },
): Breaker {
  const effect = effects[outcome.state];
  if (effect === 'closes') return closedBreaker;
  if (effect === 'none' || outcome.trigger === 'manual') return breaker;
  return afterFailure(breaker, options);
}
