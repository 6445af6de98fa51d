import type { DocumentStore } from '#shared/ports/ports.ts';

/** A store that knows how many watches of it are open, and how often it was read by id. */
export function countingStore(store: DocumentStore) {
  let open = 0;
  let reads = 0;
  const counting: DocumentStore = {
    ...store,
    get: (paths) => {
      reads += 1;
      return store.get(paths);
    },
    async *watch(collection, signal) {
      open += 1;
      try {
        yield* store.watch(collection, signal);
      } finally {
        open -= 1;
      }
    },
  };
  return { store: counting, openWatches: () => open, reads: () => reads };
}
