import { fallbackSnapshot } from '#shared/compaction/code-snapshot.ts';
import { renderSnapshot } from '#shared/compaction/render.ts';
import { tokenCounting } from '#shared/compaction/context-tokens.ts';
import { workingItems } from '#shared/conversation/documents/snapshot.ts';
import type { Run } from '../run.ts';
import { citing } from './citing.ts';
import { knownSnapshot, roomFor } from './ledger.ts';
import type { SnapshotStrategy } from './snapshot-strategy.ts';

/** Stored with each history; changes when the same turns would give another snapshot. */
const PROMPT_VERSION = 'fallback-2';

/**
 * Tokens of a context from which a run that may not ask a model folds all the same: the hard threshold,
 * beyond which answers come from a shrunken view; after an overflow any. Undefined: never, as in the profile
 * `gemini-cli`, which only shortens.
 */
export function foldFromTokens({ reading, request }: Pick<Run, 'reading' | 'request'>) {
  const { conversation, policy } = reading;
  const { context, profile } = conversation.value;
  // What is read again after an erasure is larger than the context; what is left of the snapshot will do.
  if (profile === 'gemini-cli' || reading.isReadAgain) return undefined;
  return request.trigger === 'overflow' ? 0 : policy.hardThresholdTokens + context.overheadTokens;
}

/**
 * The snapshot by code alone: what was known, and the beginnings of the user's messages since. Worse than what a model
 * writes and better than none: progress needs no model.
 */
export const fallbackStrategy: SnapshotStrategy = {
  name: 'fallback',

  draft(run, plan) {
    const { conversation, policy } = run.reading;
    const counting = tokenCounting(policy, conversation.value.model);
    const room = roomFor(run, plan);
    const snapshot = citing(
      run,
      plan,
      fallbackSnapshot(knownSnapshot(run), plan.folded, { room, counting }),
    );
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
                body: renderSnapshot(snapshot, { budgetTokens: room.roomTokens, counting }),
                report: {},
                model: '',
                promptVersion: PROMPT_VERSION,
              },
        ),
    });
  },
};
