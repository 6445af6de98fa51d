import type { ContextObject } from '#shared/wire/resources/context-object.ts';
import { isUnderWay } from './compaction-steps.ts';

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
