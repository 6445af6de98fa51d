import type { CompactionStatus, ContextObject } from '#shared/wire/resources/context-object.ts';
import type { CompactionRecordView } from '#shared/wire/resources/compaction.ts';

/** The least that a conversation may have (`settings.thresholdTokens`). */
export const LEAST_THRESHOLD_TOKENS = 1_000;

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

/** A state that this page saw a compaction in. */
export interface CompactionStep {
  jobId: string;
  state: string;
  /** Milliseconds since 1970, by the clock of the page. */
  at: number;
  trigger?: string | undefined;
  message?: string | undefined;
}

/** Steps that are kept: some compactions' worth. */
const STEPS_MAX = 60;

/** Of a compaction that has not ended, in their order. */
export const stages = ['QUEUED', 'RUNNING', 'VERIFYING'] as const;

/** Whether a compaction waits or runs. */
export const isUnderWay = (status: { state: string } | null | undefined): boolean =>
  stages.some((stage) => stage === status?.state);

/** The steps seen so far, with one more where the state is a new one. */
export function observeStatus(
  steps: readonly CompactionStep[],
  status: CompactionStatus | null | undefined,
  at: number,
): readonly CompactionStep[] {
  if (!status?.jobId) return steps;
  const { jobId, state, trigger, message } = status;
  const known = steps.findLast((step) => step.jobId === jobId);
  if (known?.state === state) return steps;
  // What had ended before the page came is told by the list of compactions.
  if (!known && !isUnderWay(status)) return steps;
  return [...steps, { jobId, state, at, trigger: trigger ?? known?.trigger, message }].slice(
    -STEPS_MAX,
  );
}

/** Pauses between looks at the context, milliseconds: while something moves, waits, and rests. */
export const WATCH_MS = { moving: 400, waiting: 2_000, resting: 5_000 };

/** A compaction that is due begins within seconds; after that it is one that is not due: little was added. */
const DUE_WITHIN_MS = 15_000;

/** So long a compaction takes; one that shows nothing new for longer waits for its next try. */
const MOVES_WITHIN_MS = 60_000;

/** What a change of is news to the watcher. */
export const watched = (context: ContextObject | undefined): string =>
  `${context?.tokens} ${context?.compaction?.jobId} ${context?.compaction?.state}`;

/** How long to pause before the next look, where there was nothing new for so long. */
export function watchPaceMs(context: ContextObject | undefined, unchangedMs: number): number {
  if (!context) return WATCH_MS.resting;
  if (isUnderWay(context.compaction))
    return unchangedMs < MOVES_WITHIN_MS ? WATCH_MS.moving : WATCH_MS.waiting;
  const isOver = context.thresholdTokens !== null && context.tokens >= context.thresholdTokens;
  return isOver && unchangedMs < DUE_WITHIN_MS ? WATCH_MS.moving : WATCH_MS.resting;
}
