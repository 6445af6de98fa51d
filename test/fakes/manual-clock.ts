import { systemClock } from '#functions/adapters/clocks.ts';
import type { MemoryStoreHooks } from '#infra/local/embedded/memory-document-store.ts';
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

interface ShiftedClock extends Clock {
  /** Moves this clock against the real one; waits keep their real length. */
  shift(ms: number): void;
}

/** The clock of a machine that is wrong by `offsetMs`. */
export function createShiftedClock(offsetMs = 0): ShiftedClock {
  let shiftMs = offsetMs;
  return {
    now: () => new Date(systemClock.now().getTime() + shiftMs),
    wait: (ms, signal) => systemClock.wait(ms, signal),
    shift(ms) {
      shiftMs += ms;
    },
  };
}

/** Turns of the event loop that one write after the other takes, over and over. */
const TURNS_OF_LOOP = [100, 50, 25, 12, 6];

/**
 * Makes the writes of a store in memory take long, each less than the one before it: who does not wait for a write reads
 * what stood there before, and is overtaken by the next.
 */
export function slowWrites(): MemoryStoreHooks {
  let writes = 0;
  return {
    beforeOperation: async ({ name }) => {
      if (name !== 'commit' && name !== 'deleteBelow') return;
      const turns = TURNS_OF_LOOP[writes++ % TURNS_OF_LOOP.length] ?? 0;
      for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
    },
  };
}
