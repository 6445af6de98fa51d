import type { FoldPlan } from '#shared/compaction/split/plan.ts';
import type { SnapshotSections } from '#shared/compaction/snapshot-sections.ts';
import type { Verification } from '#shared/compaction/rewrite/verify-sections.ts';
import { CrashedError, passWorkerCrashPoint } from '#functions/lib/crash-points.ts';
import type { ClaimedRun } from '#functions/worker/compaction/run.ts';
import {
  createChecking,
  checkSnapshot,
  isCurable,
  lacksOnly,
  listMissing,
} from './check-snapshot.ts';
import { askForRepair } from './two-passes.ts';

/** The snapshot after one more call that is given what is missing, or the one it had. */
async function repaired(
  run: ClaimedRun,
  plan: FoldPlan,
  checked: { text: string; verification: Verification },
): Promise<SnapshotSections | undefined> {
  const {
    appendedIdentifiers,
    missingIdentifiers: leftOut,
    unsupportedFacts,
  } = checked.verification;
  // The new summary starts without what code appended to this one.
  const missingIdentifiers = [...appendedIdentifiers, ...leftOut];
  const faults = { snapshotText: checked.text, missingIdentifiers, unsupportedFacts };
  try {
    return await askForRepair(run, plan, faults);
  } catch (error) {
    if (run.signal.aborted || error instanceof CrashedError) throw error;
    return undefined;
  }
}

/**
 * Verifies, asks once more for identifiers that neither the snapshot nor the room for sentences holds
 * and for what has no source, and at last lets code list what is missing. A snapshot that still states
 * too much without a source is not ok.
 */
export async function checkAndRepair(
  run: ClaimedRun,
  plan: FoldPlan,
  snapshot: { sections: SnapshotSections; text: string },
): Promise<Verification> {
  const checking = createChecking(run, plan);
  const first = checkSnapshot(checking, snapshot.sections);
  if (!isCurable(first)) return first;
  const better = await repaired(run, plan, { text: snapshot.text, verification: first });
  await passWorkerCrashPoint(run.dependencies, 'repaired');
  const second = better && checkSnapshot(checking, better);
  if (better && second && (second.ok || lacksOnly(second)))
    return listMissing(checking, { sections: better, verification: second });
  return listMissing(checking, { sections: snapshot.sections, verification: first });
}
