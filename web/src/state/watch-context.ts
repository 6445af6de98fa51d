import type { ReadonlySignal } from '@preact/signals';
import type { ContextObject } from '#shared/wire/resources/context-object.ts';
import { isUnderWay } from './compactions.ts';
import { pause } from './waiting.ts';

/** Pauses between looks at the context, milliseconds: while something moves, waits, and rests. */
export const WATCH_MS = { moving: 400, waiting: 2_000, resting: 5_000 };

/** A compaction that is due begins within seconds; after that it is one that is not due: little was added. */
const DUE_WITHIN_MS = 15_000;

/** So long a compaction takes; one that shows nothing new for longer waits for its next try. */
const MOVES_WITHIN_MS = 60_000;

/** How long to pause before the next look, where there was nothing new for so long. */
export function watchPaceMs(context: ContextObject | undefined, unchangedMs: number): number {
  if (!context) return WATCH_MS.resting;
  if (isUnderWay(context.compaction))
    return unchangedMs < MOVES_WITHIN_MS ? WATCH_MS.moving : WATCH_MS.waiting;
  const isOver = context.thresholdTokens !== null && context.tokens >= context.thresholdTokens;
  return isOver && unchangedMs < DUE_WITHIN_MS ? WATCH_MS.moving : WATCH_MS.resting;
}

/** What a change of is news to the watcher. */
const watched = (context: ContextObject | undefined): string =>
  `${context?.tokens} ${context?.compaction?.jobId} ${context?.compaction?.state}`;

/** Keeps the context of a conversation fresh until it is left: compactions go on without a stream that would tell of them. */
export async function watchContext(watch: {
  context: ReadonlySignal<ContextObject | undefined>;
  /** Whether there is a conversation to ask for, and somebody who sees it. */
  isWanted: () => boolean;
  /** Reads what has changed; never rejects. */
  look: () => Promise<unknown>;
  left: AbortSignal;
}): Promise<void> {
  const { context, isWanted, look, left } = watch;
  let known = '';
  let changedAt = Date.now();
  let lookedAt = Date.now();
  while (!left.aborted) {
    await pause(WATCH_MS.moving, left);
    if (!isWanted() || left.aborted) continue;
    const { value } = context;
    if (watched(value) !== known) changedAt = Date.now();
    known = watched(value);
    if (Date.now() - lookedAt < watchPaceMs(value, Date.now() - changedAt)) continue;
    lookedAt = Date.now();
    await look();
  }
}
