import type { z } from 'zod';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { Caller } from '#shared/ports/ports.ts';
import type { toolsSchema } from '#shared/wire/resources/tools.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { createConversation } from './create-conversation.ts';
import { updateConversation } from './update-conversation.ts';

/**
 * Writes what a request says of its conversation into it, as a PATCH would: its tools, where it has any, its own
 * instruction and its model. Nothing where it has the same. Throws BAD_FIELD, FIELD_NOT_WRITABLE, TOOL_NAME_TAKEN,
 * OVERHEAD_TOO_LARGE, NOT_FOUND.
 */
export async function declareFields(
  dependencies: ChatDependencies,
  target: {
    caller: Caller;
    conversationId: string;
    conversation: Conversation | undefined;
    tools: z.infer<typeof toolsSchema>;
    systemInstruction?: string | undefined;
    model?: string | undefined;
  },
): Promise<void> {
  const { caller, conversationId, conversation, tools, systemInstruction, model } = target;
  const fields = {
    ...(tools.length > 0 && conversation?.toolsJson !== JSON.stringify(tools) && { tools }),
    ...(systemInstruction !== undefined &&
      conversation?.systemInstruction !== systemInstruction && { systemInstruction }),
    ...(model !== undefined && conversation?.model !== model && { model }),
  };
  if (Object.keys(fields).length === 0) return;
  if (conversation)
    await updateConversation(dependencies, { caller, conversationId, patch: fields });
  else await createConversation(dependencies, { caller, id: conversationId, fields });
}
