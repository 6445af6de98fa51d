import { estimateContextTokens, type Plan } from '../../../shared/compaction/plan.ts';
import { storedMasks } from '../../../shared/compaction/tail-masks.ts';
import type { Candidate, Verified } from './candidate.ts';
import { unchanged } from './outcome.ts';
import { contextOf, type ClaimedRun } from './run.ts';
import { saveBlobs } from './save-blobs.ts';

/** The generation that only shortens tool outputs: no model, the same snapshot, the same turns. */
export async function verifyTruncation(
  run: ClaimedRun,
  plan: Extract<Plan, { kind: 'truncate' }>,
): Promise<Verified> {
  const { reading } = run;
  const { history } = reading;
  const masks = await saveBlobs(run, plan.masks);
  const before = contextOf(reading);
  const after = {
    ...before,
    history: { snapshotText: history?.snapshotText ?? '', masks: storedMasks(masks) },
  };
  const { calibration } = reading.head.value.context;
  const afterTokens = estimateContextTokens(after, { policy: reading.policy, calibration });
  if (afterTokens >= plan.beforeTokens)
    return {
      kind: 'outcome',
      outcome: unchanged(plan.beforeTokens, {
        state: 'NOOP',
        reason: 'BREAKER_OPEN',
        tokensSource: 'estimated',
      }),
    };
  const candidate: Candidate = {
    state: 'CONTENT_TRUNCATED',
    coveredThrough: reading.head.value.coveredThrough,
    from: 0,
    turnsFolded: 0,
    boundary: history?.boundary ?? '',
    snapshotText: history?.snapshotText ?? '',
    sections: history?.sections ?? {},
    snapshotTokens: history?.snapshotTokens ?? 0,
    masks,
    beforeTokens: plan.beforeTokens,
    afterTokens,
    tokensSource: 'estimated',
    model: '',
    promptVersion: '',
    sourceHash: history?.sourceHash ?? '',
    report: history?.report ?? {},
  };
  return { kind: 'candidate', candidate };
}
