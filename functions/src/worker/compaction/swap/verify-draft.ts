import type { FoldPlan } from '#shared/compaction/split/plan.ts';
import type { OutcomeState } from '#shared/compaction/decisions/outcome-state.ts';
import type { Verified } from '../draft/candidate.ts';
import { measureSwap } from './measure-swap.ts';
import { unchanged } from '../outcome.ts';
import type { ClaimedRun } from '../run.ts';
import type { Draft } from '../draft/snapshot-strategy.ts';

const refused = (
  { reading }: ClaimedRun,
  { state, reason }: { state: OutcomeState; reason: string },
): Verified => ({ kind: 'outcome', outcome: unchanged(reading.tokens, { state, reason }) });

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
      return refused(run, { state: 'FAILED_EMPTY_SUMMARY', reason: 'EMPTY' });
    case 'refused':
      return refused(run, { state: 'FAILED_VERIFICATION', reason: checked.reason });
    case 'checked':
      return measureSwap(run, plan, checked);
  }
}
