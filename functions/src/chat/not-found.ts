import { UnreadableConversationError } from '#shared/conversation/documents/conversation.ts';
import { NewerDocumentError } from '#shared/conversation/documents/read-document.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { Caller } from '#shared/ports/ports.ts';

/** One body for unknown, deleted and other people's conversations: an id must tell nothing. */
export const notFoundError = () =>
  new AppError({
    reason: 'CONVERSATION_NOT_FOUND',
    publicMessage:
      'There is no conversation under this id for you. Check the id, which is a UUID; for a new conversation draw a new one.',
  });

/** 404 of a message to the caller's own conversation that is in the bin: another id would lose what it holds. */
export const inBinError = () =>
  new AppError({
    reason: 'CONVERSATION_NOT_FOUND',
    publicMessage:
      'The conversation is in the bin. Take it back with POST /v1/conversations/{conversationId}:undelete, then send the message again.',
  });

/**
 * What a caller is told of an error: of a conversation that this release cannot read, nobody but its owner
 * learns that it is there.
 */
export function errorForCaller(error: unknown, caller: Caller | undefined): unknown {
  if (!(error instanceof NewerDocumentError || error instanceof UnreadableConversationError))
    return error;
  const { ownerUid } = error;
  if (ownerUid === undefined || ownerUid === caller?.uid) return error;
  return notFoundError();
}

/** 404: the message that was named is not there, or what it said was erased. */
export const messageNotFoundError = (messageId: string) =>
  new AppError({
    reason: 'MESSAGE_NOT_FOUND',
    publicMessage: 'The conversation has no such message. Check its id in the list of messages.',
    metadata: { messageId },
  });

/** 404: the conversation has not come to that generation. */
export const generationNotFound = (generation: number) =>
  new AppError({
    reason: 'GENERATION_NOT_FOUND',
    publicMessage: `The conversation has no generation ${generation}. Look at the list of compactions.`,
    metadata: { generation: String(generation) },
  });

/** 400: what the generation told is gone. */
export const generationErased = (generation: number) =>
  new AppError({
    reason: 'GENERATION_ERASED',
    publicMessage: `Generation ${generation} told of a message that was deleted, and was erased with it. Choose another generation, or 0 for none.`,
    metadata: { generation: String(generation) },
  });
