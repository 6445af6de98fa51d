import { fallbackSnapshot } from '#shared/compaction/ledger/fallback-snapshot.ts';
import { renderLedger } from '#shared/compaction/ledger/render-snapshot.ts';
import { tokenCounting } from '#shared/compaction/split/context-tokens.ts';
import { snapshotProfile, workingItems } from '#shared/conversation/documents/snapshot.ts';
import { keptTexts } from '../swap/measure-swap.ts';
import type { Run } from '../run.ts';
import { citing } from './citing.ts';
import type { SnapshotStrategy } from './snapshot-strategy.ts';

/** Names what code writes; rises when the same turns would give another snapshot. */
const PROMPT_VERSION = 'fallback-1';

/**
 * Tokens of a context from which a run that may not ask a model folds all the same: the hard threshold,
 * beyond which answers come from a shrunken view; after an overflow any. Undefined: never, as in the profile
 * `gemini-cli`, which only shortens.
 */
export function foldFromTokens({ reading, need }: Pick<Run, 'reading' | 'need'>) {
  const { conversation, policy } = reading;
  const { context, profile } = conversation.value;
  // What is read again after an erasure is larger than the context; what is left of the snapshot will do.
  if (profile === 'gemini-cli' || reading.isReadAgain) return undefined;
  return need.trigger === 'overflow' ? 0 : policy.hardThresholdTokens + context.overheadTokens;
}

/**
 * The snapshot by code alone: what was known, what the user stated in the sentences that say it, the last
 * requests. Worse than what a model writes and better than none: progress needs no model.
 */
export const fallbackStrategy: SnapshotStrategy = {
  name: 'fallback',

  draft(run, plan) {
    const { conversation, history, policy } = run.reading;
    const counting = tokenCounting(policy, conversation.value.model);
    const budgetTokens = policy.snapshotBudgetTokens;
    const written = fallbackSnapshot(history?.snapshot ?? undefined, plan.folded, {
      profile: snapshotProfile(conversation.value.profile),
      keptTexts: keptTexts(run, plan),
      budgetTokens,
      counting,
    });
    const snapshot = citing(run, plan, written);
    const isEmpty = workingItems(snapshot).length === 0;
    return Promise.resolve({
      check: () =>
        Promise.resolve(
          isEmpty
            ? { kind: 'empty' as const }
            : {
                kind: 'checked' as const,
                strategy: 'fallback' as const,
                snapshot,
                body: renderLedger(snapshot, { budgetTokens, counting }),
                report: {},
                model: '',
                promptVersion: PROMPT_VERSION,
              },
        ),
    });
  },
};
