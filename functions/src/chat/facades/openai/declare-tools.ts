import { z } from 'zod';
import type { Head } from '../../../../../shared/conversation/head.ts';
import type { Caller } from '../../../../../shared/ports.ts';
import type { OpenAiTool } from '../../../../../shared/wire/requests/openai.ts';
import { toolsSchema } from '../../../../../shared/wire/requests/tools.ts';
import { parseRequest } from '../../../../../shared/wire/validation-error.ts';
import { createConversation } from '../../conversation/create-conversation.ts';
import { updateConversation } from '../../conversation/update-conversation.ts';
import type { RouteDependencies } from '../../route.ts';

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
  of: {
    caller: Caller;
    conversationId: string;
    head: Head | undefined;
    tools: readonly OpenAiTool[];
  },
): Promise<void> {
  const { caller, conversationId, head } = of;
  if (of.tools.length === 0) return;
  const { tools } = parseRequest(declared, { tools: of.tools.map(toolOf) });
  if (head?.toolsJson === JSON.stringify(tools)) return;
  const fields = { tools };
  if (head) await updateConversation(dependencies, { caller, conversationId, patch: fields });
  else await createConversation(dependencies, { caller, id: conversationId, fields });
}
