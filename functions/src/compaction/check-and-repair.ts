import type { FoldPlan } from '../../../shared/compaction/plan.ts';
import type { SnapshotSections } from '../../../shared/compaction/snapshot-sections.ts';
import type { Verification } from '../../../shared/compaction/verification.ts';
import { checkSnapshot, isCurable, listMissing } from './check-snapshot.ts';
import type { ClaimedRun } from './run.ts';
import type { SnapshotRequest, SnapshotResult, SnapshotStrategy } from './snapshot-strategy.ts';

/** What the summariser made of a plan, and how to ask it again. */
export interface Summary {
  plan: FoldPlan;
  strategy: SnapshotStrategy;
  request: SnapshotRequest;
  result: SnapshotResult;
}

/** The snapshot after one more call that is given what is missing, or the one it had. */
async function repaired(
  run: ClaimedRun,
  summary: Summary,
  checked: { text: string; verification: Verification },
): Promise<SnapshotSections | undefined> {
  const { appendedIdentifiers, missingIdentifiers: leftOut } = checked.verification;
  // The new summary starts without what code appended to this one.
  const missingIdentifiers = [...appendedIdentifiers, ...leftOut];
  const request = { ...summary.request, snapshotText: checked.text, missingIdentifiers };
  try {
    return await summary.strategy.repair(run.dependencies.model, request, run.signal);
  } catch (error) {
    if (run.signal.aborted) throw error;
    return undefined;
  }
}

/**
 * Verifies, asks once more for identifiers that neither the snapshot nor the room for sentences holds,
 * and at last lets code list them.
 */
export async function checkAndRepair(
  run: ClaimedRun,
  summary: Summary,
  snapshot: { sections: SnapshotSections; text: string },
): Promise<Verification> {
  const { plan } = summary;
  const first = checkSnapshot(run, plan, snapshot.sections);
  if (!isCurable(first)) return first;
  const better = await repaired(run, summary, { text: snapshot.text, verification: first });
  const second = better && checkSnapshot(run, plan, better);
  if (better && second && (second.ok || isCurable(second)))
    return listMissing(run, plan, { sections: better, verification: second });
  return listMissing(run, plan, { sections: snapshot.sections, verification: first });
}
