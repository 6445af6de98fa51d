import { conversationPath } from '#shared/conversation/documents/paths.ts';
import type { Write } from '#shared/ports/ports.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { readOwnConversation, type OwnConversation, type OwnTarget } from './own-conversation.ts';
import { retryWhenLost } from '#functions/lib/retry.ts';

/** What to write on a conversation document, and what to answer; without `fields` nothing is written. */
interface ConversationChange<T> {
  fields?: Extract<Write, { op: 'update' }>['fields'];
  remove?: readonly string[];
  /** Writes beside the conversation document that its guard covers. */
  writes?: readonly Write[];
  result: T;
}

/**
 * Changes a caller's own conversation document under its update time: who loses the guard reads again and decides
 * again. Throws NOT_FOUND, what `decide` throws, and GuardLostError when others won every try.
 */
export async function changeConversation<T>(
  dependencies: Pick<ChatDependencies, 'store' | 'clock'>,
  target: OwnTarget,
  decide: (own: OwnConversation) => ConversationChange<T> | Promise<ConversationChange<T>>,
): Promise<T> {
  return retryWhenLost(dependencies.clock, async () => {
    const own = await readOwnConversation(dependencies, target);
    const { fields, remove, writes = [], result } = await decide(own);
    if (!fields) return result;
    await dependencies.store.commit([
      {
        op: 'update',
        path: conversationPath(target.conversationId),
        fields,
        ...(remove && { remove }),
        guard: { updateTime: own.conversation.updateTime },
      },
      ...writes,
    ]);
    return result;
  });
}
