import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { Caller } from '#shared/ports/ports.ts';
import type { OpenAiTool } from '#shared/wire/facades/openai.ts';
import { createConversation } from '#functions/chat/conversations/create-conversation.ts';
import { updateConversation } from '#functions/chat/conversations/update-conversation.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import { toClientTools } from './tool-dialogue.ts';

/**
 * Writes the tools of a request, and its own instruction where there is one, into the conversation, as a PATCH would;
 * nothing where it has the same or the request has none. Throws BAD_FIELD, FIELD_NOT_WRITABLE, TOOL_NAME_TAKEN,
 * OVERHEAD_TOO_LARGE, NOT_FOUND.
 */
export async function declareTools(
  dependencies: RouteDependencies,
  target: {
    caller: Caller;
    conversationId: string;
    conversation: Conversation | undefined;
    tools: readonly OpenAiTool[];
    systemInstruction?: string | undefined;
  },
): Promise<void> {
  const { caller, conversationId, conversation, systemInstruction } = target;
  const tools = toClientTools(target.tools);
  const isNewTools = tools.length > 0 && conversation?.toolsJson !== JSON.stringify(tools);
  const isNewInstruction =
    systemInstruction !== undefined && conversation?.systemInstruction !== systemInstruction;
  if (!isNewTools && !isNewInstruction) return;
  const fields = { ...(isNewTools && { tools }), ...(isNewInstruction && { systemInstruction }) };
  if (conversation)
    await updateConversation(dependencies, { caller, conversationId, patch: fields });
  else await createConversation(dependencies, { caller, id: conversationId, fields });
}
