import { z } from 'zod';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { Caller } from '#shared/ports/ports.ts';
import type { OpenAiTool } from '#shared/wire/facades/openai.ts';
import { toolsSchema } from '#shared/wire/resources/tools.ts';
import { parseRequest } from '#shared/wire/errors/validation-error.ts';
import { createConversation } from '#functions/chat/conversations/create-conversation.ts';
import { updateConversation } from '#functions/chat/conversations/update-conversation.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';

const declared = z.object({ tools: toolsSchema });

/** A function without parameters has none. */
const NO_PARAMETERS = { type: 'object', properties: {} };

const toolOf = ({ function: { name, description, parameters } }: OpenAiTool) => ({
  name,
  ...(typeof description === 'string' && { description }),
  parameters: parameters ?? NO_PARAMETERS,
});

/**
 * Writes the tools of a request into its conversation, as a PATCH would; nothing where it has the same or the
 * request has none. Throws BAD_FIELD, FIELD_NOT_WRITABLE, TOOL_NAME_TAKEN, OVERHEAD_TOO_LARGE, NOT_FOUND.
 */
export async function declareTools(
  dependencies: RouteDependencies,
  target: {
    caller: Caller;
    conversationId: string;
    conversation: Conversation | undefined;
    tools: readonly OpenAiTool[];
  },
): Promise<void> {
  const { caller, conversationId, conversation } = target;
  if (target.tools.length === 0) return;
  const { tools } = parseRequest(declared, { tools: target.tools.map(toolOf) });
  if (conversation?.toolsJson === JSON.stringify(tools)) return;
  const fields = { tools };
  if (conversation)
    await updateConversation(dependencies, { caller, conversationId, patch: fields });
  else await createConversation(dependencies, { caller, id: conversationId, fields });
}
