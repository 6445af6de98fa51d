import type { CompactionRecordView } from '#shared/wire/responses/compaction.ts';
import type { CompactionStep } from './compaction-steps.ts';

/** Outcomes that make the context smaller; an edit or a restore makes it another one. */
export const isSaving = ({ state }: Pick<CompactionRecordView, 'state'>): boolean =>
  state === 'COMPACTED' || state === 'CONTENT_TRUNCATED';

/** Share of the context that a compaction saved, 0–1. */
export const savedShare = ({
  beforeTokens,
  afterTokens,
}: Pick<CompactionRecordView, 'beforeTokens' | 'afterTokens'>): number =>
  beforeTokens === 0 ? 0 : Math.max(0, 1 - afterTokens / beforeTokens);

/** How long a compaction was seen in each state; the last one has no length. */
export function stepDurations(
  steps: readonly CompactionStep[],
  jobId: string,
): { state: string; tookMs: number }[] {
  const own = steps.filter((step) => step.jobId === jobId);
  return own.flatMap(({ state, at }, index) => {
    const next = own[index + 1];
    return next ? [{ state, tookMs: next.at - at }] : [];
  });
}
