import { z } from 'zod';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { AnswerOptions, Sampling } from '#shared/models/answer-options.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { parseRequest } from '#shared/wire/errors/validation-error.ts';
import type { AiSdkChatBody } from '#shared/wire/facades/ai-sdk.ts';
import type { PatchPath } from '#shared/wire/resources/conversations.ts';
import { toolsSchema } from '#shared/wire/resources/tools.ts';
import { declareFields } from '#functions/chat/conversations/declare-fields.ts';
import { refuseUnwritable } from '#functions/chat/conversations/writable-fields.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';

/* What assistant-ui's transport says of the model beside the messages. */

const declared = z.object({ tools: toolsSchema });

/** The tools of a body in the form of our own requests. Throws BAD_FIELD, which names the tool by its place. */
const toClientTools = ({ tools }: AiSdkChatBody): z.infer<typeof toolsSchema> =>
  parseRequest(declared, {
    tools: Object.entries(tools ?? {}).map(([name, given]) => ({ ...given, name })),
  }).tools;

/** What assistant-ui calls fields of ours. */
const NAMES: Partial<Record<PatchPath, string>> = {
  systemInstruction: 'system',
  model: 'config.modelName',
};

/**
 * Writes the tools, the instruction and the model of a body into its conversation. Throws FIELD_NOT_WRITABLE where the
 * deployment keeps them to itself, and what declaring fields throws.
 */
export async function declareModelContext(
  dependencies: RouteDependencies,
  asked: {
    caller: Caller;
    conversationId: string;
    conversation: Conversation | undefined;
    body: AiSdkChatBody;
  },
): Promise<void> {
  const { body, ...target } = asked;
  const { config } = dependencies;
  const systemInstruction = body.system ?? undefined;
  const model = body.config?.modelName ?? undefined;
  const tools = toClientTools(body);
  const brought: PatchPath[] = [
    ...(tools.length > 0 ? (['tools'] as const) : []),
    ...(systemInstruction === undefined ? [] : (['systemInstruction'] as const)),
    ...(model === undefined ? [] : (['model'] as const)),
  ];
  refuseUnwritable(config, brought, NAMES);
  await declareFields(dependencies, { ...target, tools, systemInstruction, model });
}

/** How the body wants to be answered; undefined: as the conversation says. */
export function askedOptions({ callSettings, config }: AiSdkChatBody): AnswerOptions | undefined {
  const { temperature, topP, seed, maxTokens } = callSettings ?? {};
  const thinkingLevel = config?.reasoningEffort ?? undefined;
  const sampling: Sampling = {
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof topP === 'number' && { topP }),
    ...(typeof seed === 'number' && { seed }),
    ...(thinkingLevel && { thinkingLevel }),
  };
  const options: AnswerOptions = {
    ...(Object.keys(sampling).length > 0 && { sampling }),
    ...(typeof maxTokens === 'number' && { maxOutputTokens: maxTokens }),
  };
  return Object.keys(options).length > 0 ? options : undefined;
}
