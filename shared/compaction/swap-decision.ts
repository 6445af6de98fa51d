import type { Trigger } from '#shared/conversation/documents/conversation.ts';
import type { OutcomeState } from './outcome.ts';
import type { CompactionPolicy } from './policy.ts';

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

export type SwapDecision =
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
  const { beforeTokens, afterTokens, overheadTokens = 0, addedOverheadTokens = 0 } = facts;
  const { policy, trigger } = facts;
  if (!isSoundCount(beforeTokens) || !isSoundCount(afterTokens))
    return { swap: false, state: 'FAILED_TOKEN_COUNT_ERROR', reason: 'TOKEN_COUNT' };
  const state = 'FAILED_INFLATED_TOKEN_COUNT';
  const isSmaller = policy.acceptsEqualSize
    ? afterTokens <= beforeTokens
    : afterTokens < beforeTokens;
  if (!isSmaller) return { swap: false, state, reason: 'NOT_SMALLER' };
  // A step on the way: what it saves counts at the end.
  if (facts.isPartial === true) return { swap: true };
  const conversationTokens = beforeTokens - overheadTokens;
  const saved = beforeTokens - (afterTokens - addedOverheadTokens);
  return saved < wantedSaving({ policy, trigger, conversationTokens })
    ? { swap: false, state, reason: 'SAVES_TOO_LITTLE' }
    : { swap: true };
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
