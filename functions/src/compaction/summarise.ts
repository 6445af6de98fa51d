import { compressorModel } from '../../../shared/compaction/compressor-model.ts';
import { contextWindowTokens } from '../../../shared/compaction/model-limits.ts';
import type { FoldPlan } from '../../../shared/compaction/plan.ts';
import type { Summary } from './check-and-repair.ts';
import type { ClaimedRun, Run } from './run.ts';
import type { SnapshotRequest } from './snapshot-strategy.ts';
import { rewriteStrategy } from './summarise-rewrite.ts';

/** Computed afresh for each run: the conversation may have changed its model. */
const summariserOf = ({ dependencies, reading }: Run) =>
  compressorModel(reading.head.value.model, dependencies.config.COMPRESSOR_MODEL);

/** Window of the model that will summarise; the conversation's own window where it is the same model. */
export function summariserWindowTokens(run: Run): number {
  const model = summariserOf(run);
  return model === run.reading.head.value.model
    ? run.reading.policy.windowTokens
    : contextWindowTokens(model, run.dependencies.config.MODEL_WINDOWS);
}

/** What the calls are named by; manual requests as Gemini CLI names them. */
function promptIdOf({ need }: Run): string {
  if (need.kind === 'auto' || need.requestId.startsWith('compress-')) return need.requestId;
  return `compress-${need.since.getTime()}`;
}

/** Asks the strategy for a snapshot of what the plan folds. Throws what the model throws. */
export async function summarise(run: ClaimedRun, plan: FoldPlan): Promise<Summary> {
  const request: SnapshotRequest = {
    model: summariserOf(run),
    contents: plan.contents,
    hasPreviousSnapshot: plan.hasPreviousSnapshot,
    focus: run.need.focus,
    maximumTokens: run.reading.policy.snapshotBudgetTokens,
    promptId: promptIdOf(run),
    bill: run.bill,
  };
  const result = await rewriteStrategy.summarise(run.dependencies.model, request, run.signal);
  return { plan, strategy: rewriteStrategy, request, result };
}
