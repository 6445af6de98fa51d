import { needOfChangedContext } from '#shared/compaction/trigger/compaction-trigger.ts';
import type { CompactionNeeded, Head } from '#shared/conversation/documents/head.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { conversationPolicy } from '#functions/config/conversation-policy.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';

/** The need that a context has after a person changed it, or undefined (`needOfChangedContext`). */
export function needAfterChange(
  { config, clock, randomness }: Pick<ChatDependencies, 'config' | 'clock' | 'randomness'>,
  after: { head: Head; history: History | undefined; tokens: number },
): CompactionNeeded['auto'] {
  return needOfChangedContext({
    ...after,
    policy: conversationPolicy(config, after.head),
    requestId: randomness.uuid(),
    now: clock.now(),
  });
}
