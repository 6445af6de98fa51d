import { AppError } from '#shared/errors.ts';

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
    status: 'UNAVAILABLE',
    reason: 'SHUTTING_DOWN',
    message: `${what}: this instance shuts down`,
    publicMessage: 'This server is shutting down. Send the same message again.',
    retryable: true,
    retryAfterMs: RESUME_AFTER_MS,
  });

/** A queued turn that has not begun after all this time. */
export const stillQueuedError = (what: string) =>
  new StreamCutError({
    status: 'UNAVAILABLE',
    reason: 'TURN_STILL_QUEUED',
    message: `${what} still waits for its turn`,
    publicMessage: 'The message still waits for its turn. Ask again.',
    retryable: true,
    retryAfterMs: RESUME_AFTER_MS,
  });
