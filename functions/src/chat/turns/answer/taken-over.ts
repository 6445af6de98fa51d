import { AppError } from '#shared/errors.ts';

/** The turn belongs to somebody else now, who tells how it ends. */
export const takenOverError = ({
  conversationId,
  seq,
  attempt,
}: {
  conversationId: string;
  seq: number;
  attempt: number;
}) =>
  new AppError({
    status: 'ABORTED',
    reason: 'TURN_TAKEN_OVER',
    message: `attempt ${attempt} at turn ${seq} of ${conversationId} was taken over`,
    publicMessage: 'Another server continues this answer.',
    retryable: true,
  });

export const isTakenOver = (error: unknown): boolean =>
  error instanceof AppError && error.reason === 'TURN_TAKEN_OVER';
