import { z } from 'zod';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { AppError } from '#shared/errors.ts';
import type { AnswerOptions, Sampling } from '#shared/models/answer-options.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { parseRequest } from '#shared/wire/errors/validation-error.ts';
import type { AiSdkChatBody } from '#shared/wire/facades/ai-sdk.ts';
import { toolsSchema } from '#shared/wire/resources/tools.ts';
import { declareFields } from '#functions/chat/conversations/declare-fields.ts';
import { isWritable } from '#functions/chat/conversations/writable-fields.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';

/* What assistant-ui's transport says of the model beside the messages. */

const declared = z.object({ tools: toolsSchema });

/** The tools of a body in the form of our own requests. Throws BAD_FIELD, which names the tool by its place. */
const toClientTools = ({ tools }: AiSdkChatBody): z.infer<typeof toolsSchema> =>
  parseRequest(declared, {
    tools: Object.entries(tools ?? {}).map(([name, given]) => ({ ...given, name })),
  }).tools;

const notWritable = (field: string, guard: string) =>
  new AppError({
    status: 'INVALID_ARGUMENT',
    reason: 'FIELD_NOT_WRITABLE',
    message: `a UI message brought ${field}, which the deployment sets`,
    publicMessage: `\`${field}\` is set by the deployment. Leave it out, or let the deployment list ${guard} in CLIENT_WRITABLE.`,
    metadata: { field },
  });

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
  if (tools.length > 0 && !isWritable(config, 'tools')) throw notWritable('tools', 'tools');
  if (systemInstruction !== undefined && !isWritable(config, 'systemInstruction'))
    throw notWritable('system', 'systemInstruction');
  if (model !== undefined && !isWritable(config, 'model'))
    throw notWritable('config.modelName', 'model');
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
