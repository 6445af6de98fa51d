import type { ContextObject } from '../wire/wire.ts';

const UNDER_WAY: readonly (string | undefined)[] = ['QUEUED', 'RUNNING', 'VERIFYING'];

/** A compaction that is due begins within seconds; after that it is one that is not due. */
const DUE_WITHIN_MS = 15_000;
/** So long a compaction takes; one that shows nothing new for longer waits for its next try. */
const MOVES_WITHIN_MS = 60_000;
/** So much rarer are looks then. */
const SLOWER = 5;

/** How long to pause before the next look at the context; undefined: nothing is under way. */
export function watchPaceMs(
  context: ContextObject | undefined,
  unchangedMs: number,
  watchMs: number,
): number | undefined {
  if (!context) return undefined;
  if (UNDER_WAY.includes(context.compaction?.state))
    return unchangedMs < MOVES_WITHIN_MS ? watchMs : SLOWER * watchMs;
  const { tokens, thresholdTokens } = context;
  const isDue = thresholdTokens !== null && tokens >= thresholdTokens;
  return isDue && unchangedMs < DUE_WITHIN_MS ? watchMs : undefined;
}
