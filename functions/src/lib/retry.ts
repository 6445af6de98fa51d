import { GuardLostError } from '#shared/lib/errors.ts';
import type { Clock } from '#shared/ports/ports.ts';

const isGuardLost = (error: unknown) => error instanceof GuardLostError;

/**
 * The result of `attempt`, which is called again after a failure that `isRetryable` accepts (default: a lost guard), at
 * most `mostTries` times in all. `tries` counts from 1. `beforeNext` runs between two tries; what it throws ends them.
 * Throws the error of the last try.
 */
export async function retry<T>(
  attempt: (tries: number) => Promise<T>,
  options: {
    mostTries: number;
    isRetryable?: (error: unknown) => boolean;
    beforeNext?: (tries: number) => Promise<void>;
  },
): Promise<T> {
  const { mostTries, isRetryable = isGuardLost, beforeNext } = options;
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(tries);
    } catch (error) {
      if (tries >= mostTries || !isRetryable(error)) throw error;
    }
    await beforeNext?.(tries);
  }
}

/** Default of `retryWhenLost`; others that win each time are more than a busy conversation has. */
const LOST_TRIES = 25;
/** Wait after a lost guard: a little longer each time, so that many who want the same do not meet for ever. */
const LOST_RETRY_MS = 10;
const LOST_RETRY_MAX_MS = 100;

/** Waits after so many lost guards in a row. */
export const waitAfterLost = (clock: Pick<Clock, 'wait'>, times: number): Promise<void> =>
  clock.wait(Math.min(LOST_RETRY_MAX_MS, LOST_RETRY_MS * times));

/**
 * Retries `attempt` with growing pauses until its commit keeps its guards. It reads and decides anew each time. Only for
 * commits that may be applied twice: a lost reply looks like a lost guard. Throws what `attempt` throws, and
 * GuardLostError with the number of tries when others won each of them.
 */
export async function retryWhenLost<T>(
  clock: Pick<Clock, 'wait'>,
  attempt: () => Promise<T>,
  mostTries = LOST_TRIES,
): Promise<T> {
  try {
    return await retry(attempt, {
      mostTries,
      beforeNext: (tries) => waitAfterLost(clock, tries),
    });
  } catch (error) {
    if (!(error instanceof GuardLostError)) throw error;
    throw new GuardLostError({ paths: error.paths, tries: mostTries, cause: error });
  }
}
