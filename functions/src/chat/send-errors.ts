import { turnId } from '../../../shared/conversation/paths.ts';
import { AppError } from '../../../shared/errors.ts';

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
