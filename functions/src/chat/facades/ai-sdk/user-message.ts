import { AppError } from '#shared/errors.ts';
import { toInputParts, translatedMessage, type UiMessage } from '#shared/wire/facades/ai-sdk.ts';
import { parseRequest } from '#shared/wire/errors/validation-error.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import { messageOfBody } from '#functions/chat/routes/parts/message-body.ts';
import type { SendRequest } from '#functions/chat/turns/send/send-request.ts';
import { messageIdSchema } from '#shared/wire/fields.ts';
import { stableUuid } from '#shared/wire/stable-uuid.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';

type Hashing = Pick<ChatDependencies, 'sha256'>;

/** The message id of a UI message: its own when it is a UUID, else always the same one in its place. */
export const toMessageId = ({ sha256 }: Hashing, uiMessageId: string): string =>
  messageIdSchema.safeParse(uiMessageId).success
    ? uiMessageId.toLowerCase()
    : stableUuid(sha256, ['ai-sdk message', uiMessageId]);

/** Id of the message that says `parts` in the place of turn `seq`: the same edit again is the same message. */
export const toEditId = (
  { sha256 }: Hashing,
  { conversationId, seq, parts }: { conversationId: string; seq: number; parts: unknown },
): string =>
  stableUuid(sha256, ['ai-sdk edit', conversationId, String(seq), JSON.stringify(parts)]);

/** Id of the message that has an answer made anew: the same wish again is the same regeneration. */
export const toRegenerationId = (
  { sha256 }: Hashing,
  { conversationId, answerId }: { conversationId: string; answerId: string },
): string => stableUuid(sha256, ['ai-sdk regeneration', conversationId, answerId]);

const noUserMessage = () =>
  new AppError({
    status: 'INVALID_ARGUMENT',
    reason: 'BAD_FIELD',
    message: 'no message of the user among the UI messages',
    publicMessage: '`messages` must hold a message with the role `user`.',
    metadata: { field: 'messages' },
  });

const saysNothing = (field: string) =>
  new AppError({
    status: 'INVALID_ARGUMENT',
    reason: 'BAD_PART',
    message: 'the last UI message of the user says nothing',
    publicMessage: `\`${field}\` holds no text and no file. Give a list such as [{"type":"text","text":"…"}], with a text that is not empty; \`content\` is not read.`,
    metadata: { field },
  });

/**
 * The last message of the user, as the use case takes it, and the id that the client calls it by. Throws
 * BAD_FIELD, BAD_PART, TEXT_TOO_LONG; a problem of the message is told as one of `message`.
 */
export function lastUserMessage(
  dependencies: Pick<RouteDependencies, 'config' | 'sha256'>,
  messages: readonly UiMessage[],
): { message: SendRequest['message']; uiMessageId: string } {
  const index = messages.findLastIndex(({ role }) => role === 'user');
  const last = messages[index];
  if (!last) throw noUserMessage();
  const { id: uiId, parts: uiParts } = last;
  const parts = toInputParts(uiParts);
  if (parts.length === 0) throw saysNothing(`messages[${index}].parts`);
  const { message } = parseRequest(translatedMessage, { message: { id: uiId, parts } });
  const id = toMessageId(dependencies, message.id);
  return { message: messageOfBody(dependencies, { ...message, id }), uiMessageId: message.id };
}
