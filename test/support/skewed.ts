import { createDatabaseClock, type DatabaseClock } from '#functions/adapters/clocks.ts';
import type { Clock, DocumentStore } from '#shared/ports/ports.ts';

export const DAY_MS = 24 * 60 * 60_000;

/** A day slow, right, and a day fast. */
export const offsets = [-DAY_MS, 0, DAY_MS];

/** A store whose replies carry the time of `time` and set an instance's clock by it, as Firestore's do. */
function timedStore(
  store: DocumentStore,
  { time, clock }: { time: Pick<Clock, 'now'>; clock: Pick<DatabaseClock, 'asking'> },
): DocumentStore {
  async function timed<Reply>(call: () => Promise<Reply>): Promise<Reply> {
    const heard = clock.asking();
    const reply = await call();
    heard(time.now());
    return reply;
  }
  return {
    ...store,
    get: (paths) => timed(() => store.get(paths)),
    query: (query) => timed(() => store.query(query)),
    commit: (writes) => timed(() => store.commit(writes)),
  };
}

/** What an instance sees whose machine is wrong by `offsetMs`, while `time` is right and is the database's. */
export function skewed(store: DocumentStore, time: Clock, offsetMs: number) {
  const machine: Clock = {
    now: () => new Date(time.now().getTime() + offsetMs),
    wait: (ms, signal) => time.wait(ms, signal),
  };
  const clock = createDatabaseClock(machine);
  return { clock, store: timedStore(store, { time, clock }) };
}
