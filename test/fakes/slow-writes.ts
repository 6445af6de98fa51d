import type { MemoryStoreHooks } from '#infra/local/embedded/memory-document-store.ts';

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
