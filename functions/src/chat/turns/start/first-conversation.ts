import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { newConversation } from '#shared/conversation/documents/new-conversation.ts';
import type { Caller } from '#shared/ports/ports.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';

/** The document of a conversation that begins now, with the deployment's settings. */
export function firstConversation(
  { config, randomness, clock }: Pick<ChatDependencies, 'config' | 'randomness' | 'clock'>,
  caller: Caller,
  memoryRevision: number,
): Conversation {
  return newConversation({
    epoch: randomness.uuid(),
    ownerUid: caller.uid,
    model: config.MODEL,
    profile: config.PROFILE,
    systemInstruction: config.SYSTEM_INSTRUCTION,
    memoryRevision,
    now: clock.now(),
  });
}
