import { createDatabaseClock } from '#functions/adapters/firestore/database-clock.ts';
import type { Clock, DocumentStore } from '#shared/ports/ports.ts';
import { timedStore } from '../fakes/timed-store.ts';

export const DAY_MS = 24 * 60 * 60_000;

/** A day slow, right, and a day fast. */
export const offsets = [-DAY_MS, 0, DAY_MS];

/** What an instance sees whose machine is wrong by `offsetMs`, while `time` is right and is the database's. */
export function skewed(store: DocumentStore, time: Clock, offsetMs: number) {
  const machine: Clock = {
    now: () => new Date(time.now().getTime() + offsetMs),
    wait: (ms, signal) => time.wait(ms, signal),
  };
  const clock = createDatabaseClock(machine);
  return { clock, store: timedStore(store, { time, clock }) };
}
