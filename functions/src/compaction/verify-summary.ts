import { decideSwap, type SnapshotState } from '../../../shared/compaction/swap-decision.ts';
import type { Verified } from './candidate.ts';
import { checkAndRepair, type Summary } from './check-and-repair.ts';
import { measureSwap } from './measure-swap.ts';
import { unchanged } from './outcome.ts';
import type { ClaimedRun } from './run.ts';

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
 * Checks a summary by code, repairs it, counts the context with and without it, and decides. Throws
 * StoppedError and what the store throws; a summary that is not good enough is an outcome.
 */
export async function verifySummary(run: ClaimedRun, summary: Summary): Promise<Verified> {
  const { result } = summary;
  switch (result.kind) {
    case 'empty':
      return refusal(run, 'empty');
    case 'refused':
      return refusal(run, 'refused', result.reason);
    case 'snapshot': {
      const verification = await checkAndRepair(run, summary, result);
      if (verification.ok) return measureSwap(run, summary, verification);
      return verification.problems.includes('EMPTY')
        ? refusal(run, 'empty')
        : refusal(run, 'refused', verification.problems.join(','));
    }
  }
}
