import { needOfChangedContext } from '#shared/compaction/trigger/compaction-trigger.ts';
import type { CompactionNeeded, Head } from '#shared/conversation/documents/head.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { conversationPolicy } from '#functions/config/conversation-policy.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';

/**
 * The need that a context has after a person changed it, or undefined. A snapshot that statements were
 * taken out of asks for the turns to be read again, however small the context is; the worker finds whether
 * they are worth a compaction.
 */
export function needAfterChange(
  { config, clock, randomness }: Pick<ChatDependencies, 'config' | 'clock' | 'randomness'>,
  after: { head: Head; history: History | undefined; tokens: number },
): CompactionNeeded['auto'] {
  const { head, history } = after;
  const requestId = randomness.uuid();
  const now = clock.now();
  const policy = conversationPolicy(config, head);
  const need = needOfChangedContext({ ...after, policy, requestId, now });
  if (need) return need;
  const isAutomatic = (head.settings.compaction ?? 'auto') === 'auto';
  const isMended = history?.rederiveFrom !== undefined && !head.compactionNeeded.auto;
  return isMended && isAutomatic && policy.softThresholdTokens !== null
    ? { requestId, since: now, trigger: 'auto' }
    : undefined;
}
