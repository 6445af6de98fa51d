import { turnId } from '#shared/conversation/documents/paths.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { AppError } from '#shared/lib/errors.ts';

/** When a client should come back that was cut off, ms. */
const RESUME_AFTER_MS = 1_000;

/**
 * Ends a stream without `[DONE]` and without a finish: the turn goes on, only this connection ends. A client that comes
 * back with its cursor loses nothing.
 */
export class StreamCutError extends AppError {}

/** The process ends: another instance goes on. */
export const shuttingDownError = (what: string) =>
  new StreamCutError({
    reason: 'SHUTTING_DOWN',
    message: `${what}: this instance shuts down`,
    publicMessage: 'This server is shutting down. Send the same message again.',
    retryAfterMs: RESUME_AFTER_MS,
  });

/** 409: wait and come back; nothing was stored. */
export const busyError = ({ seq, retryAfterMs }: { seq: number; retryAfterMs: number }) =>
  new AppError({
    reason: 'TURN_IN_PROGRESS',
    publicMessage:
      'Another message of this conversation is being answered. Wait for it, then send this one again.',
    retryAfterMs,
    metadata: { turnId: turnId(seq) },
  });

/** Bounds the tries of a start that keeps losing its guard. */
export const contentionError = () =>
  new AppError({
    reason: 'TURN_IN_PROGRESS',
    publicMessage: 'Other messages of this conversation are being sent. Send this one again.',
    retryAfterMs: 1_000,
  });

/** 400: what goes on from the message is not what goes on in the conversation. */
export const messageReplacedError = (messageId: string) =>
  new AppError({
    reason: 'MESSAGE_REPLACED',
    publicMessage:
      'Another message has taken the place of this one. Fork the conversation at this message to go on from it.',
    metadata: { messageId },
  });

/** A queued turn that has not begun after all this time. */
export const stillQueuedError = (what: string) =>
  new StreamCutError({
    reason: 'TURN_STILL_QUEUED',
    message: `${what} still waits for its turn`,
    publicMessage: 'The message still waits for its turn. Ask again.',
    retryAfterMs: RESUME_AFTER_MS,
  });

/** Another producer has the turn; its stream tells how the turn ends. */
export const takenOverError = () =>
  new AppError({
    reason: 'TURN_TAKEN_OVER',
    publicMessage: 'Another server continues this answer.',
  });

export const isTakenOver = (error: unknown): boolean =>
  error instanceof AppError && error.reason === 'TURN_TAKEN_OVER';

/** The failure that a turn is stored with, as it was thrown. */
export const toTurnError = (turn: Pick<Turn, 'seq' | 'error'>): AppError | undefined =>
  turn.error &&
  new AppError({
    status: turn.error.status,
    reason: turn.error.reason,
    message: `turn ${turn.seq} is stored as failed: ${turn.error.reason}`,
    publicMessage: turn.error.message,
    retryable: turn.error.retryable,
    retryAfterMs: turn.error.retryAfterMs,
  });

/** A failed turn rejects; readers of the stream see its error frames instead. */
export function orFailure<T extends { turn: Turn }>(finished: T): T {
  const error = toTurnError(finished.turn);
  if (error) throw error;
  return finished;
}
