import { AppError } from '#shared/errors.ts';
import type { UiMessage } from '#shared/wire/requests/ai-sdk.ts';
import { translatedMessage } from '#shared/wire/requests/ai-sdk.ts';
import { toInputParts } from '#shared/wire/views/ui-message-parts.ts';
import { parseRequest } from '#shared/wire/errors/validation-error.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import { messageOfBody } from '#functions/chat/routes/parts/message-body.ts';
import type { SendRequest } from '#functions/chat/turns/send/send-request.ts';
import { toMessageId } from './ids.ts';

const noUserMessage = () =>
  new AppError({
    status: 'INVALID_ARGUMENT',
    reason: 'BAD_FIELD',
    message: 'no message of the user among the UI messages',
    publicMessage: '`messages` must hold a message with the role `user`.',
    metadata: { field: 'messages' },
  });

/**
 * The last message of the user, as the use case takes it, and the id that the client calls it by. Throws
 * BAD_FIELD, BAD_PART, TEXT_TOO_LONG; a problem of the message is told as one of `message`.
 */
export function lastUserMessage(
  dependencies: Pick<RouteDependencies, 'config' | 'sha256'>,
  messages: readonly UiMessage[],
): { message: SendRequest['message']; uiMessageId: string } {
  const last = messages.findLast(({ role }) => role === 'user');
  if (!last) throw noUserMessage();
  const { id: uiId, parts: uiParts } = last;
  const parts = toInputParts(uiParts);
  const { message } = parseRequest(translatedMessage, { message: { id: uiId, parts } });
  const id = toMessageId(dependencies, message.id);
  return { message: messageOfBody(dependencies, { ...message, id }), uiMessageId: message.id };
}
