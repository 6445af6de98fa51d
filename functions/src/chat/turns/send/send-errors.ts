import { turnId } from '#shared/conversation/documents/paths.ts';
import { QUEUE_MAX } from '#shared/conversation/decisions/queue-decision.ts';
import { REPLACED_MAX } from '#shared/conversation/decisions/start-decision.ts';
import { AppError, StoreUnavailableError } from '#shared/errors.ts';

/** 409: wait and come back; nothing was stored. */
export const busyError = (
  conversationId: string,
  decision: { seq: number; retryAfterMs: number },
) =>
  new AppError({
    status: 'ABORTED',
    reason: 'TURN_IN_PROGRESS',
    message: `turn ${decision.seq} of ${conversationId} is being answered`,
    publicMessage:
      'Another message of this conversation is being answered. Wait for it, then send this one again.',
    retryable: true,
    retryAfterMs: decision.retryAfterMs,
    metadata: { turnId: turnId(decision.seq) },
  });

/** 409 that no retry mends. */
export const keyReusedError = (conversationId: string, messageId: string) =>
  new AppError({
    status: 'ALREADY_EXISTS',
    reason: 'IDEMPOTENCY_KEY_REUSED',
    message: `message id ${messageId} of ${conversationId} is known with another body`,
    publicMessage:
      'message.id was already used for another message of this conversation. Draw a new id for a new message.',
    metadata: { field: 'message.id' },
  });

/** Bounds the tries of a start that keeps losing its guard to others. */
export const contentionError = (conversationId: string, tries: number) =>
  new AppError({
    status: 'ABORTED',
    reason: 'TURN_IN_PROGRESS',
    message: `start in ${conversationId} lost its guard ${tries} times`,
    publicMessage: 'Other messages of this conversation are being sent. Send this one again.',
    retryable: true,
    retryAfterMs: 1_000,
  });

/** 503: what was read does not fit together, however often it is read. */
export const tornError = (conversationId: string) =>
  new StoreUnavailableError({
    operation: `the documents of ${conversationId} do not fit together`,
  });

/** 409: as busy, and the places to wait are taken too. */
export const queueFullError = (
  conversationId: string,
  decision: { seq: number; retryAfterMs: number },
) =>
  new AppError({
    status: 'ABORTED',
    reason: 'TURN_IN_PROGRESS',
    message: `the queue of ${conversationId} behind turn ${decision.seq} is full`,
    publicMessage: `${QUEUE_MAX} messages of this conversation wait for their answers already, and no more may. Wait for some of them, then send this one again.`,
    retryable: true,
    retryAfterMs: decision.retryAfterMs,
    metadata: { turnId: turnId(decision.seq), queueMax: String(QUEUE_MAX) },
  });

export const notUserMessageError = (conversationId: string, messageId: string) =>
  new AppError({
    status: 'FAILED_PRECONDITION',
    reason: 'NOT_A_USER_MESSAGE',
    message: `the answer ${messageId} of ${conversationId} was to be edited`,
    publicMessage: 'Only messages of the user can be edited. Regenerate the answer instead.',
    metadata: { messageId },
  });

export const notLastAnswerError = (
  conversationId: string,
  { messageId, lastSeq }: { messageId: string; lastSeq: number },
) =>
  new AppError({
    status: 'FAILED_PRECONDITION',
    reason: 'NOT_THE_LAST_ANSWER',
    message: `${messageId} of ${conversationId} is not of its last turn ${lastSeq}`,
    publicMessage:
      'Only the last answer can be regenerated. Edit the message before this one, or fork the conversation there.',
    metadata: { messageId, lastTurnId: turnId(lastSeq) },
  });

/** 400: what goes on from the message is not what goes on in the conversation. */
export const messageReplacedError = (conversationId: string, messageId: string) =>
  new AppError({
    status: 'FAILED_PRECONDITION',
    reason: 'MESSAGE_REPLACED',
    message: `${messageId} of ${conversationId} was replaced and was to be edited`,
    publicMessage:
      'Another message has taken the place of this one. Fork the conversation at this message to go on from it.',
    metadata: { messageId },
  });

/** 400: one batch cannot take so many turns out of the context. */
export const editTooFarBackError = (
  conversationId: string,
  { messageId, replaced }: { messageId: string; replaced: number },
) =>
  new AppError({
    status: 'FAILED_PRECONDITION',
    reason: 'EDIT_TOO_FAR_BACK',
    message: `an edit of ${messageId} in ${conversationId} would replace ${replaced} turns`,
    publicMessage: `An edit replaces at most ${REPLACED_MAX} turns, this one ${replaced}. Fork the conversation at that message instead.`,
    metadata: {
      messageId,
      replacedTurns: String(replaced),
      replacedTurnsMax: String(REPLACED_MAX),
    },
  });
