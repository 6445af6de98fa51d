import type { Conversation, Versioned } from '#shared/conversation/documents/conversation.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import type { Caller } from '#shared/ports/ports.ts';
import type { Project } from './project.ts';

export interface Owned {
  conversationId: string;
  conversation: Versioned<Conversation>;
  /** In whose name use cases are asked. */
  caller: Caller;
}

/** A conversation with its owner. Throws Error where there is none. */
export async function readOwned({ chat, name }: Project, conversationId: string): Promise<Owned> {
  const conversation = await readConversation(chat.store, conversationId);
  if (conversation) {
    const caller: Caller = { uid: conversation.value.ownerUid, tier: 'signedIn' };
    return { conversationId, conversation, caller };
  }
  throw new Error(
    `there is no conversation ${conversationId} in ${name}; \`conversations\` lists what there is`,
  );
}
