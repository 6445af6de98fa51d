import type { CompactionOutcome, OutcomeState } from '../decisions/outcome-state.ts';
import type { CompactionPolicy } from '../policy/policy.ts';
import { policyConstants } from '../policy/policy-constants.ts';

/** Stored per conversation: stops paying for compactions that keep failing. */
export interface Breaker {
  /** Failures in a row. */
  failures: number;
  /** While this lies ahead, no model is called; null = closed. */
  openUntil: Date | null;
  /** Conversation tokens when it opened; absent: not known. */
  openedAtTokens?: number | undefined;
}

type BreakerPolicy = Pick<
  CompactionPolicy,
  'breakerFailures' | 'breakerOpenMs' | 'onlyInflationCounts'
>;

interface BreakerMoment {
  now: Date;
  /** Of the conversation, without overhead. */
  tokens: number;
}

export const closedBreaker: Breaker = Object.freeze({ failures: 0, openUntil: null });

/**
 * Whether an automatic compaction may call the model: closed, or half open: one try after the pause, or once the
 * conversation has grown by half since the breaker opened, when the same failure is less likely and weighs more.
 */
export function isBreakerClosed(breaker: Breaker, { now, tokens }: BreakerMoment): boolean {
  const { openUntil, openedAtTokens } = breaker;
  if (openUntil === null || openUntil.getTime() <= now.getTime()) return true;
  const growth = 1 + policyConstants.breakerGrowthFraction.value;
  return openedAtTokens !== undefined && tokens >= growth * openedAtTokens;
}

function afterFailure(
  breaker: Breaker,
  options: BreakerMoment & { policy: BreakerPolicy },
): Breaker {
  const { now, tokens, policy } = options;
  const failures = breaker.failures + 1;
  // The count stays after the pause, so the one try of the half-open state opens it again at once.
  return failures < policy.breakerFailures
    ? { failures, openUntil: null }
    : {
        failures,
        openUntil: new Date(now.getTime() + policy.breakerOpenMs),
        openedAtTokens: tokens,
      };
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

/** A summary that saves too little is sound; and in the profile `gemini-cli` nothing but an inflation counts. */
function isFailure(
  { state, reason }: Pick<CompactionOutcome, 'state' | 'reason'>,
  { onlyInflationCounts }: BreakerPolicy,
): boolean {
  if (effects[state] !== 'counts' || reason === 'SAVES_TOO_LITTLE') return false;
  return !onlyInflationCounts || state === 'FAILED_INFLATED_TOKEN_COUNT';
}

/**
 * The breaker after an outcome. COMPACTED closes it, whoever asked. Each failure of an automatic run counts, but none of
 * a manual run or of a search for what is blocked. All other outcomes leave it as it is.
 */
export function breakerAfter(
  breaker: Breaker,
  outcome: Pick<CompactionOutcome, 'state' | 'trigger' | 'reason'>,
  options: BreakerMoment & { policy: BreakerPolicy },
): Breaker {
  if (effects[outcome.state] === 'closes') return closedBreaker;
  const isCounted = outcome.trigger !== 'manual' && outcome.trigger !== 'blocked';
  if (!isCounted || !isFailure(outcome, options.policy)) return breaker;
  return afterFailure(breaker, options);
}
