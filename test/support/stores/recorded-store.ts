import {
  createMemoryDocumentStore,
  type MemoryStoreHooks,
} from '#infra/local/embedded/memory-document-store.ts';
import type { DocumentStore, StoredDocument } from '#shared/ports/ports.ts';

export interface RecordedStore {
  store: DocumentStore;
  /** Every document that is there, in whatever collection. */
  documents: () => Promise<StoredDocument[]>;
}

/** The embedded store, and what no service can ask of a store: all that it holds. */
export function createRecordedStore(hooks: MemoryStoreHooks = {}): RecordedStore {
  const paths = new Set<string>();
  const store = createMemoryDocumentStore({
    ...hooks,
    afterCommit: async (writes) => {
      for (const { path } of writes) paths.add(path);
      await hooks.afterCommit?.(writes);
    },
  });
  return {
    store,
    documents: async () => {
      const found = await store.get([...paths]);
      return found.filter((document) => document !== undefined);
    },
  };
}
