import type { CompactionNeeded, ContextMeter, Head } from '../conversation/head.ts';
import type { History } from '../conversation/history.ts';
import { isArmed, isOverThreshold, type CompactionPolicy } from './policy.ts';

/** Tokens beyond which compaction re-arms; null: at once, because nothing was swapped, or not all of it. */
export const tokensAfterLastSwap = (
  history: Pick<History, 'afterTokens' | 'isPartial'> | undefined,
): number | null =>
  history === undefined || history.isPartial === true ? null : history.afterTokens;

interface DueContext {
  head: Pick<Head, 'settings' | 'context'>;
  history: History | undefined;
  tokens: number;
  policy: CompactionPolicy;
  requestId: string;
  now: Date;
}

/**
 * The need of a context as it stands, whoever waits for a compaction already; undefined: below the
 * threshold, not armed since the last swap, or compaction is not automatic. Equal to the threshold compacts.
 */
export function needOfContext(context: DueContext): CompactionNeeded['auto'] {
  const { head, history, tokens, policy, requestId, now } = context;
  if ((head.settings.compaction ?? 'auto') !== 'auto') return undefined;
  if (!isOverThreshold({ tokens, overheadTokens: head.context.overheadTokens, policy }))
    return undefined;
  if (!isArmed({ tokens, tokensAfterLastSwap: tokensAfterLastSwap(history), policy }))
    return undefined;
  return { requestId, since: now, trigger: 'auto' };
}

/**
 * The need of a context that a person has changed (edit, deletion, restore, undelete), unless an automatic
 * one waits; a person's request is none of the threshold's. Compaction that is not armed is asked for too
 * where the next answer would have to do without part of the context: it cannot wait for more tokens.
 */
export function needOfChangedContext(
  context: DueContext & { head: Pick<Head, 'compactionNeeded'> },
): CompactionNeeded['auto'] {
  const { head, tokens, policy, requestId, now } = context;
  if (head.compactionNeeded.auto) return undefined;
  const need = needOfContext(context);
  if (need) return need;
  const isAutomatic = (head.settings.compaction ?? 'auto') === 'auto';
  const contentTokens = tokens - head.context.overheadTokens;
  return isAutomatic &&
    policy.softThresholdTokens !== null &&
    contentTokens >= policy.hardThresholdTokens
    ? { requestId, since: now, trigger: 'overflow' }
    : undefined;
}

/**
 * The need that a finished turn leaves in the head, or undefined: nothing to ask for (`needOfContext`), or
 * asked for already. A person's request is none of the threshold's: the context may grow beyond it. A
 * prompt that the model found too long always asks, unless compaction is off.
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
  const { head, meter, requestId, now } = turn;
  if (head.compactionNeeded.auto) return undefined;
  if (turn.isOverflow && head.settings.compaction !== 'off')
    return { requestId, since: now, trigger: 'overflow' };
  if (meter === undefined) return undefined;
  const { settings } = head;
  return needOfContext({ ...turn, head: { settings, context: meter }, tokens: meter.tokens });
}
