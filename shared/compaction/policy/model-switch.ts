import type { CompactionNeeded, Head } from '#shared/conversation/documents/head.ts';
import { isOverThreshold, type CompactionPolicy } from './policy.ts';

/**
 * The need that a change of the model, or of the window, leaves in the head: the window has become smaller
 * and the context is over the threshold that comes with it. What was saved since the last swap does not
 * count: with the new window the context may be too long for any answer. Undefined where compaction is not
 * automatic, or an automatic need waits already.
 */
export function needOfSmallerWindow(change: {
  head: Pick<Head, 'settings' | 'compactionNeeded' | 'context'>;
  tokens: number;
  before: Pick<CompactionPolicy, 'windowTokens'>;
  after: CompactionPolicy;
  requestId: string;
  now: Date;
}): CompactionNeeded['auto'] {
  const { head, tokens, before, after, requestId, now } = change;
  const isAutomatic = (head.settings.compaction ?? 'auto') === 'auto';
  if (!isAutomatic || head.compactionNeeded.auto) return undefined;
  if (after.windowTokens >= before.windowTokens) return undefined;
  const { overheadTokens } = head.context;
  if (!isOverThreshold({ tokens, overheadTokens, policy: after })) return undefined;
  return { requestId, since: now, trigger: 'modelSwitch' };
}
