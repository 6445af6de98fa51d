import type { Turn } from '#shared/conversation/documents/turn.ts';
import { AppError } from '#shared/errors.ts';
import type { FinishedTurn } from '../live/live-turn.ts';

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
export function orFailure(finished: FinishedTurn): FinishedTurn {
  const error = toTurnError(finished.turn);
  if (error) throw error;
  return finished;
}
