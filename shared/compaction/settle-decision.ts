import {
  ATTEMPTS_PER_REQUEST,
  CANCELLED_BY_USER,
  type CompactionRequest,
} from './claim-decision.ts';
import { isUnpaid, type OutcomeState } from './outcome.ts';

export interface SettleFacts {
  kind: CompactionRequest['kind'];
  state: OutcomeState;
  reason?: string | undefined;
  /** Of FAILED_ERROR: whether the same attempt may succeed later. */
  isRetryable: boolean;
  /** What the failing service asked for. */
  retryAfterMs?: number | undefined;
  /** Attempts at this request, the present one included. */
  attempts: number;
  untilNextDayMs: number;
}

type SettleDecision =
  /** The request is settled and leaves the conversation document. */
  | { kind: 'clear' }
  /** The request stays: the worker waits, or the sweep publishes it again after that time. */
  | { kind: 'retry'; retryAfterMs: number }
  /** The request stays, and none of its attempts is used up: the sweep publishes it again after that time. */
  | { kind: 'wait'; retryAfterMs: number };

/**
 * What becomes of the request after an outcome. A manual one is settled by any outcome: the person sees it and may ask
 * again. None is tried more than `ATTEMPTS_PER_REQUEST` times. What no model was asked for because the dollars of the day
 * are used up was not tried: it waits.
 */
export function decideSettle(facts: SettleFacts): SettleDecision {
  if (facts.state === 'NOOP' && isUnpaid(facts.reason))
    return { kind: 'wait', retryAfterMs: unpaidWaitMs(facts) };
  const isLast = facts.attempts >= ATTEMPTS_PER_REQUEST;
  if (facts.kind === 'manual' || isLast || !isWorthAnotherTry(facts)) return { kind: 'clear' };
  return { kind: 'retry', retryAfterMs: retryAfterMs(facts) };
}

function isWorthAnotherTry({ state, reason, isRetryable }: SettleFacts): boolean {
  if (reason === CANCELLED_BY_USER) return false;
  switch (state) {
    case 'FAILED_ERROR':
      return isRetryable;
    // A model rarely writes the same poor summary twice, and a counter comes back.
    case 'FAILED_EMPTY_SUMMARY':
    case 'FAILED_TOKEN_COUNT_ERROR':
    case 'FAILED_VERIFICATION':
    case 'ABORTED':
    case 'SUPERSEDED':
      return true;
    case 'COMPACTED':
    case 'CONTENT_TRUNCATED':
    case 'NOOP':
    case 'FAILED_INFLATED_TOKEN_COUNT':
    case 'QUEUED':
    case 'RUNNING':
    case 'VERIFYING':
      return false;
  }
}

/** Wait before the second attempt; the third waits three times as long. */
const FIRST_RETRY_MS = 10_000;

const RETRY_FACTOR = 3;

const LONGEST_RETRY_MS = 10 * 60_000;

/** The documents moved on: the next attempt starts from the new ones at once. */
const SUPERSEDED_RETRY_MS = 1_000;

function retryAfterMs(facts: SettleFacts): number {
  if (facts.state === 'SUPERSEDED') return SUPERSEDED_RETRY_MS;
  const backOffMs = FIRST_RETRY_MS * RETRY_FACTOR ** Math.max(0, facts.attempts - 1);
  return Math.min(LONGEST_RETRY_MS, Math.max(backOffMs, facts.retryAfterMs ?? 0));
}

/**
 * How long a request waits that nobody could pay for: until the day turns, but no longer than this, in case the limit
 * was raised, or the context has grown so far that code alone folds it; and not shorter than that.
 */
const LONGEST_UNPAID_MS = 60 * 60_000;

const SHORTEST_UNPAID_MS = 60_000;

/** Where others on their way hold the rest, they say when to come back: soon. */
const unpaidWaitMs = ({ retryAfterMs: askedMs = Infinity, untilNextDayMs }: SettleFacts): number =>
  Math.max(SHORTEST_UNPAID_MS, Math.min(LONGEST_UNPAID_MS, untilNextDayMs, askedMs));
