import type { History } from '#shared/conversation/documents/history.ts';
import { readContextParts } from '#shared/conversation/context/read-conversation.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { StoreUnavailableError } from '#shared/errors.ts';
import type { Caller } from '#shared/ports/ports.ts';
import type { ContextObject } from '#shared/wire/resources/context-object.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { readOwnConversation, type OwnConversation } from '../conversations/own-conversation.ts';
import { viewContext } from './view-context.ts';

/** A load that finds the generation gone (swapped or erased meanwhile) begins again this often. */
const READ_TRIES = 3;

interface ConversationContext extends OwnConversation {
  history: History | undefined;
  turns: Turn[];
  /** The turn that is being answered, or waits for the app, as far as it is stored. */
  open?: Turn;
}

/** A caller's conversation with all that its context is made of, from one generation. */
export async function readContext(
  dependencies: Pick<ChatDependencies, 'store' | 'cache' | 'logger'>,
  target: { caller: Caller; conversationId: string },
): Promise<ConversationContext> {
  for (let tries = 0; tries < READ_TRIES; tries++) {
    const own = await readOwnConversation(dependencies, target);
    const conversation = own.conversation.value;
    const { conversationId } = target;
    const parts = await readContextParts(dependencies, { conversationId, conversation });
    if (conversation.generation === 0 || parts.history) return { ...own, ...parts };
  }
  throw new StoreUnavailableError({ operation: `context of ${target.conversationId}` });
}

/** The context object of what `readContext` found. */
export function toContextObject(
  dependencies: Pick<ChatDependencies, 'config' | 'clock' | 'sha256'>,
  context: ConversationContext,
  locale: string | undefined,
): ContextObject {
  return viewContext(dependencies, {
    ...context,
    conversation: context.conversation.value,
    locale,
  });
}
