import type { Clock } from '#shared/ports/ports.ts';

export interface ManualClock extends Clock {
  /** Moves the time on and wakes every wait that is due by then. */
  advance(ms: number): void;
}

interface Waiter {
  dueMs: number;
  wake: () => void;
}

/** A clock that stands still until a test moves it. */
export function createManualClock(start = new Date('2026-01-02T03:04:05.000Z')): ManualClock {
  let nowMs = start.getTime();
  const waiters = new Set<Waiter>();
  return {
    now: () => new Date(nowMs),
    advance(ms) {
      nowMs += ms;
      for (const waiter of waiters) if (waiter.dueMs <= nowMs) waiter.wake();
    },
    wait(ms, signal) {
      if (ms <= 0 || signal?.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const waiter: Waiter = {
          dueMs: nowMs + ms,
          wake: () => {
            waiters.delete(waiter);
            signal?.removeEventListener('abort', waiter.wake);
            resolve();
          },
        };
        waiters.add(waiter);
        signal?.addEventListener('abort', waiter.wake, { once: true });
      });
    },
  };
}
