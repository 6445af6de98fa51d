import type { CompactionNeeded, ContextMeter, Head } from '../conversation/head.ts';
import type { History } from '../conversation/history.ts';
import { isArmed, isOverThreshold, type CompactionPolicy } from './policy.ts';

/**
 * The need that a finished turn leaves in the head, or undefined: below the threshold, not armed since
 * the last swap, already asked for, or switched off. Equal to the threshold compacts; a prompt that the
 * model found too long always does, unless compaction is off.
 */
export function compactionNeed(turn: {
  head: Pick<Head, 'settings' | 'compactionNeeded'>;
  history: History | undefined;
  /** Absent when the turn left the context as it was. */
  meter: ContextMeter | undefined;
  /** The model refused the prompt for its length: our estimate was too low. */
  isOverflow: boolean;
  policy: CompactionPolicy;
  requestId: string;
  now: Date;
}): CompactionNeeded['auto'] {
  const { head, history, meter, policy } = turn;
  const mode = head.settings.compaction ?? 'auto';
  if (head.compactionNeeded.auto || head.compactionNeeded.manual) return undefined;
  if (turn.isOverflow && mode !== 'off')
    return { requestId: turn.requestId, since: turn.now, trigger: 'overflow' };
  if (mode !== 'auto' || meter === undefined) return undefined;
  if (!isOverThreshold({ ...meter, policy })) return undefined;
  if (!isArmed({ tokens: meter.tokens, tokensAfterLastSwap: history?.afterTokens ?? null, policy }))
    return undefined;
  return { requestId: turn.requestId, since: turn.now, trigger: 'auto' };
}
