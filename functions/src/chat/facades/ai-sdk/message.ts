import type { Part } from '#shared/conversation/documents/content.ts';
import { AppError } from '#shared/errors.ts';
import { parseRequest } from '#shared/wire/errors/validation-error.ts';
import {
  toInputParts,
  translatedMessage,
  type AiSdkChatBody,
  type UiMessage,
} from '#shared/wire/facades/ai-sdk.ts';
import { messageIdSchema } from '#shared/wire/fields.ts';
import type { PatchPath } from '#shared/wire/resources/conversations.ts';
import { stableUuid } from '#shared/wire/stable-uuid.ts';
import { refuseUnwritable } from '#functions/chat/conversations/writable-fields.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import { answerOptions, messageOfBody } from '#functions/chat/routes/parts/message-body.ts';
import { badField, toAnswerOptions, toClientTools, type Wish } from '../translation/wish.ts';

/** The message id of a UI message: its own when it is a UUID, else always the same one in its place. */
export const toMessageId = (
  { sha256 }: Pick<RouteDependencies, 'sha256'>,
  uiMessageId: string,
): string =>
  messageIdSchema.safeParse(uiMessageId).success
    ? uiMessageId.toLowerCase()
    : stableUuid(sha256, ['ai-sdk message', uiMessageId]);

const saysNothing = (field: string) =>
  new AppError({
    status: 'INVALID_ARGUMENT',
    reason: 'BAD_PART',
    message: 'the last UI message of the user says nothing',
    publicMessage: `\`${field}\` holds no text and no file. Give a list such as [{"type":"text","text":"…"}], with a text that is not empty; \`content\` is not read.`,
    metadata: { field },
  });

/** The last message of the user. */
interface UserMessage {
  /** What the client calls it. */
  uiId: string;
  id: string;
  parts: Part[];
  /** What the client shows in front of it. */
  before: readonly UiMessage[];
}

/** Throws BAD_FIELD, BAD_PART, TEXT_TOO_LONG; a problem of the message is told as one of `message`. */
export function lastUserMessage(
  dependencies: Pick<RouteDependencies, 'config' | 'sha256'>,
  messages: readonly UiMessage[],
): UserMessage {
  const index = messages.findLastIndex(({ role }) => role === 'user');
  const last = messages[index];
  if (!last) throw badField('messages', '`messages` must hold a message with the role `user`.');
  const given = { id: last['id'], parts: toInputParts(last['parts']) };
  if (given.parts.length === 0) throw saysNothing(`messages[${index}].parts`);
  const { message } = parseRequest(translatedMessage, { message: given });
  const id = toMessageId(dependencies, message.id);
  const { parts } = messageOfBody(dependencies, { ...message, id });
  return { uiId: message.id, id, parts, before: messages.slice(0, index) };
}

/** What assistant-ui calls fields of ours. */
const NAMES: Partial<Record<PatchPath, string>> = {
  systemInstruction: 'system',
  model: 'config.modelName',
};

/** What a body says of the answer to its message. Throws BAD_FIELD, and FIELD_NOT_WRITABLE for what the deployment keeps to itself. */
export function toWish(
  { config }: Pick<RouteDependencies, 'config'>,
  body: AiSdkChatBody,
  sent: { parts: Part[]; header: (name: string) => string | undefined },
): Wish {
  const { callSettings } = body;
  const tools = toClientTools(
    Object.entries(body.tools ?? {}).map(([name, given]) => ({ ...given, name })),
  );
  const systemInstruction = body.system ?? undefined;
  const model = body.config?.modelName ?? undefined;
  const brought: PatchPath[] = [
    ...(tools.length > 0 ? (['tools'] as const) : []),
    ...(systemInstruction === undefined ? [] : (['systemInstruction'] as const)),
    ...(model === undefined ? [] : (['model'] as const)),
  ];
  refuseUnwritable(config, brought, NAMES);
  const { options, ...circumstances } = answerOptions(body, sent.header);
  return {
    parts: sent.parts,
    options: toAnswerOptions({
      temperature: callSettings?.temperature,
      topP: callSettings?.topP,
      seed: callSettings?.seed,
      effort: body.config?.reasoningEffort,
      maxOutputTokens: callSettings?.maxTokens,
      responseSchema: options?.responseSchema,
    }),
    circumstances,
    tools,
    systemInstruction,
    model,
    maxTokensField: 'callSettings.maxTokens',
  };
}
