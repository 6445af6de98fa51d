import type { FoldPlan } from '../../../shared/compaction/plan.ts';
import { summaryOutputTokens } from '../../../shared/compaction/summariser-input.ts';
import type { Summary } from './check-and-repair.ts';
import { summariserOfRun, type ClaimedRun, type Run } from './run.ts';
import type { SnapshotRequest } from './snapshot-strategy.ts';
import { rewriteStrategy } from './summarise-rewrite.ts';

/** What the calls are named by; manual requests as Gemini CLI names them. */
function promptIdOf({ need }: Run): string {
  if (need.kind === 'auto' || need.requestId.startsWith('compress-')) return need.requestId;
  return `compress-${need.since.getTime()}`;
}

/** Asks the strategy for a snapshot of what the plan folds. Throws what the model throws. */
export async function summarise(run: ClaimedRun, plan: FoldPlan): Promise<Summary> {
  const { model, windowTokens } = summariserOfRun(run);
  const request: SnapshotRequest = {
    model,
    contents: plan.contents,
    hasPreviousSnapshot: plan.hasPreviousSnapshot,
    focus: run.need.focus,
    maximumTokens: run.reading.policy.snapshotBudgetTokens,
    maxOutputTokens: summaryOutputTokens(windowTokens),
    promptId: promptIdOf(run),
    bill: run.bill,
  };
  const result = await rewriteStrategy.summarise(run.dependencies.model, request, run.signal);
  return { plan, strategy: rewriteStrategy, request, result };
}
