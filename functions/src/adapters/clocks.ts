import type { Clock } from '#shared/ports/ports.ts';

/** The machine's clock and timers. */
export const systemClock: Clock = {
  now: () => new Date(),
  wait: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) {
        resolve();
        return;
      }
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener('abort', done, { once: true });
    }),
};

/**
 * The time of the database, which all instances have in common: leases, waits and days are compared with times that
 * other instances have written. Between two replies it runs on as the machine's clock does; before the first one it is
 * the machine's.
 */
export interface DatabaseClock extends Clock {
  /** Whether a reply has told the time. */
  isSet(): boolean;
  /** A call of the database begins; what is returned is told the time that its reply carries. */
  asking(): (time: Date) => void;
}

/** A machine that is right within the length of a call keeps its own time. */
export function createDatabaseClock(machine: Clock = systemClock): DatabaseClock {
  const machineMs = () => machine.now().getTime();
  let aheadMs = 0;
  let isSet = false;
  return {
    isSet: () => isSet,
    now: () => new Date(machineMs() + aheadMs),
    wait: (ms, signal) => machine.wait(ms, signal),
    asking: () => {
      const sentMs = machineMs();
      return (time) => {
        // It was this time at some moment of the call: as little as that asks for is corrected.
        const leastMs = time.getTime() - machineMs();
        const mostMs = time.getTime() - sentMs;
        isSet = true;
        aheadMs = Math.min(Math.max(aheadMs, leastMs), mostMs);
      };
    },
  };
}

/** Who judges a token, by its times among other things. */
interface Verifier<Token, Proven> {
  verify(token: Token): Promise<Proven>;
}

/**
 * The same verifier, which judges nothing before the time is known: one that went by a wrong clock would refuse everybody,
 * and never hear of it, because what it refuses asks the database nothing. `verify` throws what `hear` throws, too.
 */
export const onceTimeIsKnown = <Token, Proven>(
  verifier: Verifier<Token, Proven>,
  hear: () => Promise<unknown>,
): Verifier<Token, Proven> => ({
  verify: async (token) => {
    await hear();
    return verifier.verify(token);
  },
});
