import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { Caller } from '#shared/ports/ports.ts';
import type { OpenAiTool } from '#shared/wire/facades/openai.ts';
import { declareFields } from '#functions/chat/conversations/declare-fields.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import { toClientTools } from './tool-dialogue.ts';

/**
 * Writes the tools of a request, and its own instruction where there is one, into the conversation. Throws what
 * declaring fields throws.
 */
export const declareTools = (
  dependencies: RouteDependencies,
  target: {
    caller: Caller;
    conversationId: string;
    conversation: Conversation | undefined;
    tools: readonly OpenAiTool[];
    systemInstruction?: string | undefined;
  },
): Promise<void> => declareFields(dependencies, { ...target, tools: toClientTools(target.tools) });
