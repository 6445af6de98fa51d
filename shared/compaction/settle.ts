import type { Trigger } from '#shared/conversation/documents/conversation.ts';
import { waitsForBudget } from './brakes.ts';
import { ATTEMPTS_PER_NEED, CANCELLED_BY_USER, type CompactionRequest } from './claim.ts';
import type { OutcomeState } from './outcome.ts';
import type { CompactionPolicy } from './policy.ts';

// What becomes of the request

export interface SettleFacts {
  kind: CompactionRequest['kind'];
  state: OutcomeState;
  reason?: string | undefined;
  /** Of FAILED_ERROR: whether the same attempt may succeed later. */
  isRetryable: boolean;
  /** What the failing service asked for. */
  retryAfterMs?: number | undefined;
  /** Attempts at this need, the present one included. */
  attempts: number;
  untilNextDayMs: number;
}

type SettleDecision =
  /** The need is settled and leaves the conversation document. */
  | { kind: 'clear' }
  /** The need stays; the event is to be delivered again. */
  | { kind: 'retry'; retryAfterMs: number }
  /** The need stays, and none of its attempts is used up: the sweep publishes it again after that time. */
  | { kind: 'wait'; retryAfterMs: number };

/**
 * What becomes of the need after an outcome. A manual request is settled by any outcome: the person
 * sees it and may ask again. No need is tried more than `ATTEMPTS_PER_NEED` times. What no model was asked for because
 * the dollars of the day are used up was not tried: it waits.
 */
export function decideSettle(facts: SettleFacts): SettleDecision {
  if (facts.state === 'NOOP' && waitsForBudget(facts.reason))
    return { kind: 'wait', retryAfterMs: unpaidWaitMs(facts) };
  const isLast = facts.attempts >= ATTEMPTS_PER_NEED;
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

// Whether a snapshot replaces the history

export interface SwapFacts {
  /** Both by the same counter, system instruction and tools included; null = not countable. */
  beforeTokens: number | null;
  afterTokens: number | null;
  /** Part of both that no compaction can shrink; default 0. */
  overheadTokens?: number;
  /**
   * Part of `afterTokens` alone that no compaction can shrink: a function that the model is told of once
   * something is folded is no fault of the snapshot. Default 0.
   */
  addedOverheadTokens?: number;
  policy: Pick<
    CompactionPolicy,
    'minimumSavingFraction' | 'minimumSavingTokens' | 'acceptsEqualSize'
  >;
  trigger: Trigger;
  /** Only part of what should be folded was: what it saves is measured at the end, not at each step. */
  isPartial?: boolean;
}

type SwapDecision =
  | { swap: true }
  | {
      swap: false;
      state: Extract<OutcomeState, 'FAILED_TOKEN_COUNT_ERROR' | 'FAILED_INFLATED_TOKEN_COUNT'>;
      reason: 'TOKEN_COUNT' | 'NOT_SMALLER' | 'SAVES_TOO_LITTLE';
    };

/**
 * Whether a sound snapshot replaces the history: both counts are sound, and the context gets smaller; a run must also
 * save what `wantedSaving` asks for, unless it folds only a part. In the profile `gemini-cli` an equal size passes.
 */
export function decideSwap(facts: SwapFacts): SwapDecision {
  const { beforeTokens, afterTokens } = facts;
  if (!isSoundCount(beforeTokens) || !isSoundCount(afterTokens))
    return { swap: false, state: 'FAILED_TOKEN_COUNT_ERROR', reason: 'TOKEN_COUNT' };
  return sizeDecision(facts, { beforeTokens, afterTokens });
}

function sizeDecision(
  facts: SwapFacts,
  counts: { beforeTokens: number; afterTokens: number },
): SwapDecision {
  const { beforeTokens, afterTokens } = counts;
  const { policy, trigger, addedOverheadTokens = 0 } = facts;
  const state = 'FAILED_INFLATED_TOKEN_COUNT';
  const isSmaller = policy.acceptsEqualSize
    ? afterTokens <= beforeTokens
    : afterTokens < beforeTokens;
  if (!isSmaller) return { swap: false, state, reason: 'NOT_SMALLER' };
  // A step on the way: what it saves counts at the end.
  if (facts.isPartial === true) return { swap: true };
  const conversationTokens = beforeTokens - (facts.overheadTokens ?? 0);
  const saved = beforeTokens - (afterTokens - addedOverheadTokens);
  if (saved < wantedSaving({ policy, trigger, conversationTokens }))
    return { swap: false, state, reason: 'SAVES_TOO_LITTLE' };
  return { swap: true };
}

/**
 * Tokens that a swap must save: a share of the conversation and a share of the threshold. Where somebody
 * waits for room, any saving is welcome: 0.
 */
export function wantedSaving(swap: {
  policy: Pick<CompactionPolicy, 'minimumSavingFraction' | 'minimumSavingTokens'>;
  trigger: Trigger;
  /** Before, without what no compaction can shrink. */
  conversationTokens: number;
}): number {
  const { policy, trigger } = swap;
  if (trigger === 'manual' || trigger === 'overflow') return 0;
  return Math.max(
    policy.minimumSavingFraction * swap.conversationTokens,
    policy.minimumSavingTokens,
  );
}

/** Whether a count can be one of a prompt: none is empty. */
export function isSoundCount(tokens: number | null): tokens is number {
  return tokens !== null && Number.isFinite(tokens) && tokens > 0;
}
