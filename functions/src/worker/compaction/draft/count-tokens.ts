import { failureReason } from '#functions/lib/failure-reason.ts';
import { tokenCounting } from '#shared/compaction/split/context-tokens.ts';
import { isSoundCount } from '#shared/compaction/decisions/swap-decision.ts';
import { estimatePromptTokens } from '#shared/tokens/token-estimate.ts';
import type { Prompt } from '#shared/ports/ports.ts';
import type { ClaimedRun } from '../run.ts';
import { withDeadline } from '#functions/lib/deadline.ts';

/** How long the token counter may take. */
const COUNT_TIMEOUT_MS = 10_000;

export interface TokenCounts {
  /** null = not countable. */
  beforeTokens: number | null;
  afterTokens: number | null;
  source: 'counted' | 'estimated';
}

async function countBoth(
  run: ClaimedRun,
  prompts: { before: Prompt; after: Prompt },
): Promise<TokenCounts | undefined> {
  const { model, clock, logger } = run.dependencies;
  try {
    const [beforeTokens, afterTokens] = await withDeadline(
      { clock, ms: COUNT_TIMEOUT_MS, signal: run.signal },
      (signal) =>
        Promise.all([
          model.countTokens(prompts.before, signal),
          model.countTokens(prompts.after, signal),
        ]),
    );
    return isSoundCount(beforeTokens) && isSoundCount(afterTokens)
      ? { beforeTokens, afterTokens, source: 'counted' }
      : undefined;
  } catch (error) {
    if (run.signal.aborted) throw error;
    logger.log('WARNING', 'compaction_tokens_not_counted', {
      conversationId: run.reading.conversationId,
      reason: failureReason(error),
    });
    return undefined;
  }
}

/**
 * Tokens of both prompts by the same counter: the model's, or, when it fails for either, the calibrated
 * estimate for both. Throws only when the run was stopped.
 */
export async function countTokens(
  run: ClaimedRun,
  prompts: { before: Prompt; after: Prompt },
): Promise<TokenCounts> {
  const counted = await countBoth(run, prompts);
  if (counted) return counted;
  const { conversation, policy } = run.reading;
  const estimate = (prompt: Prompt) => {
    const tokens = Math.ceil(
      conversation.value.context.calibration *
        estimatePromptTokens(prompt, tokenCounting(policy, conversation.value.model)),
    );
    return isSoundCount(tokens) ? tokens : null;
  };
  return {
    beforeTokens: estimate(prompts.before),
    afterTokens: estimate(prompts.after),
    source: 'estimated',
  };
}
