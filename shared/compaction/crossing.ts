import type { CompactionNeeded, ContextMeter, Head } from '../conversation/head.ts';
import type { History } from '../conversation/history.ts';
import { isArmed, isOverThreshold, type CompactionPolicy } from './policy.ts';

/**
 * The need that a finished turn leaves in the head, or undefined: below the threshold, not armed since
 * the last swap, already asked for, or switched off. Equal to the threshold compacts.
 */
export function compactionNeed(turn: {
  head: Pick<Head, 'settings' | 'compactionNeeded'>;
  history: History | undefined;
  meter: ContextMeter;
  policy: CompactionPolicy;
  requestId: string;
  now: Date;
}): CompactionNeeded['auto'] {
  const { head, history, meter, policy } = turn;
  if ((head.settings.compaction ?? 'auto') !== 'auto') return undefined;
  if (head.compactionNeeded.auto || head.compactionNeeded.manual) return undefined;
  if (!isOverThreshold({ ...meter, policy })) return undefined;
  if (!isArmed({ tokens: meter.tokens, tokensAfterLastSwap: history?.afterTokens ?? null, policy }))
    return undefined;
  return { requestId: turn.requestId, since: turn.now, trigger: 'auto' };
}
