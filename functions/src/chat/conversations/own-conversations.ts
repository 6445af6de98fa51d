import {
  decodeAnyConversation,
  type Conversation,
  type Versioned,
} from '#shared/conversation/documents/conversation.ts';
import { CONVERSATIONS } from '#shared/conversation/documents/paths.ts';
import type { Caller } from '#shared/ports/ports.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';

/** Heads of one read. */
const PAGE = 100;

/**
 * Every conversation of a caller in whatever state, also one whose conversation document cannot be read, in the order
 * of their ids; read page by page.
 */
export async function* ownConversations(
  { store }: Pick<ChatDependencies, 'store'>,
  caller: Caller,
): AsyncGenerator<{ conversationId: string; conversation: Versioned<Conversation> }> {
  let last: string | undefined;
  do {
    const documents = await store.query({
      collection: CONVERSATIONS,
      where: [{ field: 'ownerUid', op: '==', value: caller.uid }],
      limit: PAGE,
      ...(last !== undefined && { startAfter: { path: last } }),
    });
    for (const document of documents)
      yield {
        conversationId: document.path.slice(CONVERSATIONS.length + 1),
        conversation: decodeAnyConversation(document),
      };
    last = documents.length === PAGE ? documents.at(-1)?.path : undefined;
  } while (last !== undefined);
}
