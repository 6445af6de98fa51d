import type { AppError } from '../errors.ts';

/** For a limit that passes within this time a message waits in its queue, ms: two of the minutes that limits count. */
const LIMIT_WAIT_MAX_MS = 120_000;

/** Whether an error is a limit that passes while a message waits. */
export const isPassingLimit = ({
  status,
  retryable,
  retryAfterMs = Infinity,
}: Pick<AppError, 'status' | 'retryable' | 'retryAfterMs'>): boolean =>
  status === 'RESOURCE_EXHAUSTED' && retryable && retryAfterMs <= LIMIT_WAIT_MAX_MS;
