import { GuardLostError } from '#shared/errors.ts';
import type { Clock } from '#shared/ports/ports.ts';

/** How often what loses its guards is done anew; others that win each time are more than a busy conversation has. */
const LOST_TRIES = 25;
/** Wait after a lost guard: a little longer each time, so that many who want the same do not meet for ever. */
const LOST_RETRY_MS = 10;
const LOST_RETRY_MAX_MS = 100;

/**
 * Does `attempt` until its commit keeps its guards. It reads and decides anew each time, so nothing of an earlier
 * try is in it, and what others did meanwhile is. Only for commits that may be applied twice: a lost reply looks like a
 * lost guard. Throws what `attempt` throws, and GuardLostError with the number of tries when others won each of them.
 */
export async function retryWhenLost<T>(
  clock: Pick<Clock, 'wait'>,
  attempt: () => Promise<T>,
  mostTries = LOST_TRIES,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof GuardLostError)) throw error;
      if (tries >= mostTries) throw new GuardLostError({ paths: error.paths, tries, cause: error });
    }
    await clock.wait(Math.min(LOST_RETRY_MAX_MS, LOST_RETRY_MS * tries));
  }
}
