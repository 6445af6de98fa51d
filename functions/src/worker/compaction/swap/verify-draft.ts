import type { FoldPlan } from '#shared/compaction/split/plan.ts';
import { decideSwap, type SnapshotState } from '#shared/compaction/decisions/swap-decision.ts';
import type { Verified } from '../draft/candidate.ts';
import { measureSwap } from './measure-swap.ts';
import { unchanged } from '../outcome.ts';
import type { ClaimedRun } from '../run.ts';
import type { Draft } from '../draft/snapshot-strategy.ts';

function refusal(run: ClaimedRun, snapshotState: SnapshotState, reason?: string): Verified {
  const decision = decideSwap({
    beforeTokens: null,
    afterTokens: null,
    snapshotState,
    policy: run.reading.policy,
    trigger: run.need.trigger,
  });
  if (decision.swap)
    throw new RangeError(`a snapshot that is ${snapshotState} must not be swapped in`);
  const { state } = decision;
  const outcome = unchanged(run.reading.tokens, { state, reason: reason ?? decision.reason });
  return { kind: 'outcome', outcome };
}

/**
 * Checks a draft by code, counts the context with and without it, and decides. Throws StoppedError and
 * what the store and the model throw; a snapshot that is not good enough is an outcome.
 */
export async function verifyDraft(
  run: ClaimedRun,
  plan: FoldPlan,
  draft: Draft,
): Promise<Verified> {
  const checked = await draft.check();
  switch (checked.kind) {
    case 'empty':
      return refusal(run, 'empty');
    case 'refused':
      return refusal(run, 'refused', checked.reason);
    case 'checked':
      return measureSwap(run, plan, checked);
  }
}
