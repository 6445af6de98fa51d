import type { Plan } from '#shared/compaction/split/plan.ts';
import { estimateContextTokens } from '#shared/compaction/split/context-tokens.ts';
import { storedMasks } from '#shared/compaction/tool-outputs/tail-masks.ts';
import type { Candidate, Verified } from '../draft/candidate.ts';
import { countedAfter } from './measure-swap.ts';
import { unchanged } from '../outcome.ts';
import { runContext, type ClaimedRun } from '../run.ts';
import { saveBlobs } from './save-blobs.ts';

const nothingTruncated = ({ refusal, reading }: ClaimedRun): Verified => ({
  kind: 'outcome',
  outcome: unchanged(reading.tokens, { state: 'NOOP', reason: refusal ?? 'BREAKER_OPEN' }),
});

/** The generation that only shortens tool outputs: no model, the same snapshot, the same turns. */
export async function verifyTruncation(
  run: ClaimedRun,
  plan: Extract<Plan, { kind: 'truncate' }>,
): Promise<Verified> {
  const { reading } = run;
  const { history } = reading;
  // Shortened outputs do not make up for turns that stand verbatim again.
  if (reading.isReadAgain) return nothingTruncated(run);
  const masks = await saveBlobs(run, plan.masks);
  const before = runContext(run);
  const after = {
    ...before,
    memory: reading.memory.after,
    history: { snapshotText: history?.snapshotText ?? '', masks: storedMasks(masks) },
  };
  const { calibration } = reading.conversation.value.context;
  const afterTokens = estimateContextTokens(after, { policy: reading.policy, calibration });
  if (afterTokens >= plan.beforeTokens) return nothingTruncated(run);
  const candidate: Candidate = {
    state: 'CONTENT_TRUNCATED',
    coveredThrough: reading.coveredThrough,
    from: 0,
    turnsFolded: 0,
    boundary: history?.boundary ?? '',
    snapshotText: history?.snapshotText ?? '',
    snapshot: history?.snapshot ?? null,
    strategy: 'copy',
    snapshotTokens: history?.snapshotTokens ?? 0,
    masks,
    beforeTokens: plan.beforeTokens,
    afterTokens,
    counted: countedAfter(run, after, 'estimated'),
    model: '',
    promptVersion: '',
    sourceHash: history?.sourceHash ?? '',
    report: history?.report ?? {},
    after,
  };
  return { kind: 'candidate', candidate };
}
