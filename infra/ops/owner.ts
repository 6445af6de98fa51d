import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import type { Conversation, Versioned } from '#shared/conversation/documents/conversation.ts';
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

/** Stops a use case at the first thing that it would write. */
class RehearsedError extends Error {}

/**
 * Runs a use case of the chat function with a store that takes no write, up to its first batch: so what it would refuse
 * is refused. Nothing is published. Resolves to whether it would write. Throws what the use case throws.
 */
export async function rehearse(
  chat: ChatDependencies,
  run: (chat: ChatDependencies) => Promise<unknown>,
): Promise<boolean> {
  try {
    await run({
      ...chat,
      store: { ...chat.store, commit: () => Promise.reject(new RehearsedError()) },
      publisher: { publish: () => Promise.resolve() },
    });
    return false;
  } catch (error) {
    if (error instanceof RehearsedError) return true;
    throw error;
  }
}
