import {
  decodeAnyConversation,
  type Conversation,
  type Versioned,
} from '#shared/conversation/documents/conversation.ts';
import { CONVERSATIONS } from '#shared/conversation/documents/paths.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { lastSegment } from '#shared/store/names.ts';
import { readPages } from '#shared/store/read-pages.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';

/** Conversations of one read. */
const PAGE = 100;

/**
 * Every conversation of a caller in whatever state, also one whose conversation document cannot be read, in the order
 * of their ids; read page by page.
 */
export async function* ownConversations(
  { store }: Pick<ChatDependencies, 'store'>,
  caller: Caller,
): AsyncGenerator<{ conversationId: string; conversation: Versioned<Conversation> }> {
  const pages = readPages(store, {
    collection: CONVERSATIONS,
    where: [{ field: 'ownerUid', op: '==', value: caller.uid }],
    limit: PAGE,
  });
  for await (const page of pages)
    for (const document of page)
      yield {
        conversationId: lastSegment(document.path),
        conversation: decodeAnyConversation(document),
      };
}
