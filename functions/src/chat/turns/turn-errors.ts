import type { Turn } from '#shared/conversation/documents/turn.ts';
import { AppError } from '#shared/lib/errors.ts';

/** When a client should come back that was cut off, ms. */
const RESUME_AFTER_MS = 1_000;

/**
 * Ends a stream without `[DONE]` and without a finish: the turn is not over, only this connection, and
 * whoever comes back with its cursor loses nothing.
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

/** A queued turn that has not begun after all this time. */
export const stillQueuedError = (what: string) =>
  new StreamCutError({
    reason: 'TURN_STILL_QUEUED',
    message: `${what} still waits for its turn`,
    publicMessage: 'The message still waits for its turn. Ask again.',
    retryAfterMs: RESUME_AFTER_MS,
  });

/** The turn belongs to somebody else now, who tells how it ends. */
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
