import { setImmediate } from 'node:timers/promises';
import type { DocumentStore, StoredDocument, Write } from '#shared/ports/ports.ts';
import { ChangeQueue } from '#shared/store/change-queue.ts';
import { checkQuery } from '#shared/store/checked-query.ts';
import { checkWrites } from '#shared/store/checked-write.ts';
import { checkCollectionPath, checkDocumentPath } from '#shared/store/names.ts';
import { MemoryDocuments } from './memory-documents.ts';
import { runQuery, type QueriedDocument } from './memory-query.ts';
import { copyFields } from './stored-fields.ts';

/** Documents that `deleteBelow` deletes before it lets others run. */
const DELETION_BATCH = 100;

export type StoreOperation =
  | { name: 'get'; paths: readonly string[] }
  | { name: 'query' | 'sum'; collection: string }
  | { name: 'commit'; writes: readonly Write[] }
  /** Once, before the first documents. */
  | { name: 'watch'; collection: string }
  /** Before each batch of 100 documents: throwing here leaves the rest. */
  | { name: 'deleteBelow'; path: string };

/** Places where a test holds an operation or lets it fail: what these throw, the caller gets. */
export interface MemoryStoreHooks {
  /** What stands for the way to the database; default: a turn of the event loop. */
  pause?: () => Promise<void>;
  /** Before the documents are looked at. */
  beforeOperation?: (operation: StoreOperation) => Promise<void>;
  /** After a commit was applied, before its reply: throwing StoreUnavailableError here is a lost reply. */
  afterCommit?: (writes: readonly Write[]) => Promise<void>;
}

/**
 * A DocumentStore in this process's memory: for running without an emulator, and the fake of the tests.
 * It refuses, orders and guards as Firestore does (one contract suite runs on both). Reads by id and
 * writes do not depend on how much is stored; a query scans its own collection, `deleteBelow` the names of
 * all collections. Nothing outlives it.
 */
export function createMemoryDocumentStore(hooks: MemoryStoreHooks = {}): DocumentStore {
  const documents = new MemoryDocuments();
  const pause = hooks.pause ?? setImmediate;

  /** Lets everything else run first, as a call over a network would. */
  async function begin(operation: StoreOperation): Promise<void> {
    await pause();
    await hooks.beforeOperation?.(operation);
  }

  return {
    async get(paths) {
      for (const path of paths) checkDocumentPath(path);
      const asked = [...paths];
      await begin({ name: 'get', paths: asked });
      return asked.map((path) => {
        const found = documents.find(path);
        return found && released(found);
      });
    },

    async commit(writes) {
      const checked = checkWrites(writes);
      await begin({ name: 'commit', writes });
      const times = documents.apply(checked);
      await hooks.afterCommit?.(writes);
      return times;
    },

    async query(query) {
      const checked = checkQuery(query);
      await begin({ name: 'query', collection: checked.collection });
      return runQuery(documents.in(checked.collection), checked).map(released);
    },

    async sum(collection, field) {
      checkCollectionPath(collection);
      await begin({ name: 'sum', collection });
      let total = 0;
      for (const { fields } of documents.in(collection)) {
        const value = fields[field];
        if (typeof value === 'number') total += value;
      }
      return total;
    },

    async *watch(collection, signal) {
      checkCollectionPath(collection);
      await begin({ name: 'watch', collection });
      yield* changesIn(documents, collection, signal);
    },

    async deleteBelow(path, signal) {
      checkDocumentPath(path);
      for (let deleted = 0; ;) {
        signal?.throwIfAborted();
        await begin({ name: 'deleteBelow', path });
        signal?.throwIfAborted();
        const batch = documents.below(path, DELETION_BATCH);
        documents.remove(batch);
        deleted += batch.length;
        if (batch.length < DELETION_BATCH) return deleted;
      }
    },
  };
}

/** All documents of a collection, then each batch of changes, until `signal` fires. */
async function* changesIn(documents: MemoryDocuments, collection: string, signal: AbortSignal) {
  const queue = new ChangeQueue<QueriedDocument>();
  const all = { collection, limit: Infinity };
  for (const document of runQuery(documents.in(collection), all)) queue.put(document);
  queue.release();
  const unfollow = documents.follow(collection, queue);
  try {
    for await (const batch of queue.batches(signal)) yield batch.map(released);
  } finally {
    unfollow();
  }
}

function released(document: QueriedDocument): StoredDocument {
  return { ...document, fields: copyFields(document.fields) };
}
