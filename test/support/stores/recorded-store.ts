import {
  createMemoryDocumentStore,
  type MemoryStoreHooks,
} from '#infra/local/embedded/memory-document-store.ts';
import { StoreUnavailableError } from '#shared/lib/errors.ts';
import type { DocumentStore, StoredDocument, Write } from '#shared/ports/ports.ts';

export interface RecordedStore {
  store: DocumentStore;
  /** Every document that is there, in whatever collection. */
  documents: () => Promise<StoredDocument[]>;
  /** Loses the reply of the next commit that has such a write; the commit itself is applied. */
  loseReplyOf: (isMeant: (write: Write) => boolean) => void;
}

/** The embedded store, and what no service can ask of a store: all that it holds. */
export function createRecordedStore(hooks: MemoryStoreHooks = {}): RecordedStore {
  const paths = new Set<string>();
  const lost: ((write: Write) => boolean)[] = [];
  const store = createMemoryDocumentStore({
    ...hooks,
    afterCommit: async (writes) => {
      for (const { path } of writes) paths.add(path);
      await hooks.afterCommit?.(writes);
      const index = lost.findIndex((isMeant) => writes.some((write) => isMeant(write)));
      if (index === -1) return;
      lost.splice(index, 1);
      throw new StoreUnavailableError({ operation: 'a reply that is lost' });
    },
  });
  return {
    store,
    documents: async () => {
      const found = await store.get([...paths]);
      return found.filter((document) => document !== undefined);
    },
    loseReplyOf: (isMeant) => void lost.push(isMeant),
  };
}
