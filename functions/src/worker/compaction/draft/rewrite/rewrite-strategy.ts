import type { FoldPlan } from '#shared/compaction/split/plan.ts';
import { promptVersion } from '#shared/compaction/rewrite/rewrite-prompts.ts';
import { snapshotOfSections } from '#shared/compaction/snapshot-sections.ts';
import { sectionsBody } from '#shared/compaction/snapshot-sections.ts';
import type { Verification } from '#shared/compaction/rewrite/verify-sections.ts';
import { summariserOfRun, type ClaimedRun } from '#functions/worker/compaction/run.ts';
import type { Checked, SnapshotStrategy } from '../snapshot-strategy.ts';
import { checkAndRepair } from './check-and-repair.ts';
import { statedAfter, withinReport } from './stated-before.ts';
import { summarise } from './two-passes.ts';

/** What verification found, as it is stored; every list is bounded. */
const reportOf = (
  run: ClaimedRun,
  plan: FoldPlan,
  verification: Verification,
): Record<string, unknown> => ({
  snapshotTokens: verification.snapshotTokens,
  appendedIdentifiers: withinReport(verification.appendedIdentifiers),
  missingIdentifiers: withinReport(verification.missingIdentifiers),
  missingIdentifierCount: verification.missingIdentifiers.length,
  droppedLines: withinReport(verification.droppedLines),
  droppedLineCount: verification.droppedLines.length,
  statedIdentifiers: statedAfter(run.reading.history, plan),
});

function checkedOf(run: ClaimedRun, plan: FoldPlan, verification: Verification): Checked {
  if (!verification.ok)
    return verification.problems.includes('EMPTY')
      ? { kind: 'empty' }
      : { kind: 'refused', reason: verification.problems.join(',') };
  return {
    kind: 'checked',
    strategy: 'rewrite',
    snapshot: snapshotOfSections(verification.repaired),
    body: sectionsBody(verification.repaired),
    report: reportOf(run, plan, verification),
    model: run.bill.model ?? summariserOfRun(run).model,
    promptVersion,
  };
}

/**
 * Gemini CLI's way: the model writes the whole snapshot anew with every compaction, from the previous one
 * and the folded turns; a second pass criticises it.
 */
export const rewriteStrategy: SnapshotStrategy = {
  name: 'rewrite',

  async draft(run, plan) {
    const summary = await summarise(run, plan);
    return {
      async check() {
        if (summary.kind !== 'read') return summary;
        return checkedOf(run, plan, await checkAndRepair(run, plan, summary));
      },
    };
  },
};
