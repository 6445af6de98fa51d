import { systemClock } from '#functions/adapters/clocks.ts';
import type { Clock } from '#shared/ports/ports.ts';

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
