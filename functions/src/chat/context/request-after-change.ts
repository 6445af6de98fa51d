import { conversationPolicy } from '#functions/config/conversation-policy.ts';
import { requestForChangedContext } from '#shared/compaction/trigger.ts';
import type {
  CompactionRequests,
  Conversation,
} from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';

/** The compaction that a context asks for after a person changed it, or undefined (`requestForChangedContext`). */
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
