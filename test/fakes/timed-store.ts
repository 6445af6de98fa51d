import type { DatabaseClock } from '#functions/adapters/firestore/database-clock.ts';
import type { Clock, DocumentStore } from '#shared/ports/ports.ts';

/** A store whose replies carry the time of `time` and set an instance's clock by it, as Firestore's do. */
export function timedStore(
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
