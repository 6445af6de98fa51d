import type { Timings } from '../api.ts';
import { type RecapError, offline } from '../http/error.ts';

/** Pauses may be so much shorter or longer, so that not all devices come back at once. */
const SPREAD = 0.25;

/** Whether the app is in front and goes on, and the pauses of all that waits in it. */
export function createLife({ backOffMs }: Pick<Timings, 'backOffMs'>) {
  const closing = new AbortController();
  const wakers = new Set<() => void>();
  let isActive = true;

  /** What waits is tried at once. */
  const wake = (): void => {
    for (const waker of Array.from(wakers)) waker();
  };

  /** Resolves after the time, or when the app wakes up. */
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      if (closing.signal.aborted) return resolve();
      const end = (): void => {
        clearTimeout(timer);
        wakers.delete(end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      wakers.add(end);
    });

  /** Waits for the next try after so many failures in a row: as the service asks, else ever longer. */
  const pauseAfter = ({ code, retryAfterMs }: Partial<RecapError>, failures: number) => {
    // A token that was refused may be taken after a longer pause.
    const place = code === 401 ? backOffMs.length : Math.min(failures, backOffMs.length);
    const spread = 1 + SPREAD * (2 * Math.random() - 1);
    return pause(retryAfterMs ?? spread * (backOffMs[place - 1] ?? 0));
  };

  return {
    get isActive() {
      return isActive;
    },
    /** Fires when the client is closed. */
    closed: closing.signal,
    wake,
    /** Told at each wake, until the function that it returns is called. */
    onWake: (waker: () => void): (() => void) => {
      wakers.add(waker);
      return () => void wakers.delete(waker);
    },
    setActive: (now: boolean): void => {
      isActive = now;
      if (now) wake();
    },
    close: (): void => {
      closing.abort();
      wake();
    },
    pauseAfter,
    /** Tries until it works, or nobody wants it any more. Rejects with a RecapError that is final. */
    untilDone: async (
      work: () => Promise<void>,
      unwanted: AbortSignal = closing.signal,
    ): Promise<void> => {
      for (let failures = 1; !unwanted.aborted && !closing.signal.aborted; failures += 1) {
        try {
          return await work();
        } catch (thrown) {
          const error = offline(thrown);
          if (!error.isPassing) throw error;
          await pauseAfter(error, failures);
        }
      }
    },
  };
}

export type Life = ReturnType<typeof createLife>;
