import type { DocumentStore, Write } from '#shared/ports/ports.ts';

/** What was asked of a store. Documents that are not there count as reads too: Firestore bills them. */
export interface StoreWork {
  reads: number;
  /** Of the reads, those of the index of recall. */
  indexReads: number;
  writes: number;
  /** Time in which at least one call was under way. */
  busyMs: number;
  /** The batches, in order. */
  batches: (readonly Write[])[];
}

export interface CountedStore {
  store: DocumentStore;
  /** What was asked since the last call. */
  take: () => StoreWork;
}

const nothing = (): StoreWork => ({
  reads: 0,
  indexReads: 0,
  writes: 0,
  busyMs: 0,
  batches: [],
});

const isOfIndex = (path: string) => path.split('/').at(-2) === 'recall';

/** A store whose calls are counted at the port. A query reads what it finds, at least one document. */
export function countStore(store: DocumentStore): CountedStore {
  let work = nothing();
  let underWay = 0;
  let busySince = 0;
  async function timed<T>(call: () => Promise<T>): Promise<T> {
    if (underWay++ === 0) busySince = performance.now();
    try {
      return await call();
    } finally {
      if (--underWay === 0) work.busyMs += performance.now() - busySince;
    }
  }
  return {
    store: {
      ...store,
      get: (paths) => {
        work.reads += paths.length;
        work.indexReads += paths.filter(isOfIndex).length;
        return timed(() => store.get(paths));
      },
      commit: (writes) => {
        work.writes += writes.filter(({ op }) => op !== 'delete').length;
        work.batches.push(writes);
        return timed(() => store.commit(writes));
      },
      query: async (query) => {
        const found = await timed(() => store.query(query));
        work.reads += Math.max(1, found.length);
        return found;
      },
      sum: (collection, field) => {
        work.reads += 1;
        return timed(() => store.sum(collection, field));
      },
    },
    take: () => {
      const taken = work;
      work = nothing();
      return taken;
    },
  };
}
