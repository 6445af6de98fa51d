import { conversationPolicy } from '#functions/config/conversation-policy.ts';
import { requestForChangedContext } from '#shared/compaction/trigger.ts';
import type {
  CompactionRequests,
  Conversation,
} from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';

/** The need that a context has after a person changed it, or undefined (`needOfChangedContext`). */
export function requestAfterChange(
  { config, clock, randomness }: Pick<ChatDependencies, 'config' | 'clock' | 'randomness'>,
  after: { conversation: Conversation; history: History | undefined; tokens: number },
): CompactionRequests['auto'] {
  return requestForChangedContext({
    ...after,
    policy: conversationPolicy(config, after.conversation),
    requestId: randomness.uuid(),
    now: clock.now(),
  });
}
