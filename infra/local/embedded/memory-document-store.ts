import { setImmediate } from 'node:timers/promises';
import { GuardLostError } from '../../../shared/errors.ts';
import type { DocumentStore, Guard, StoredDocument, Write } from '../../../shared/ports.ts';
import { checkQuery } from '../../../shared/store/checked-query.ts';
import { checkWrites, type CheckedWrite } from '../../../shared/store/checked-write.ts';
import { checkDocumentPath } from '../../../shared/store/names.ts';
import { checkDocumentSize, documentSize } from '../../../shared/store/size.ts';
import { runQuery, type QueriedDocument } from './memory-query.ts';
import { copyOf, updatedFields } from './stored-fields.ts';
import { isSameValue } from './value-order.ts';

export type StoreOperation =
  | { name: 'get'; paths: readonly string[] }
  | { name: 'query'; collection: string }
  | { name: 'commit'; writes: readonly Write[] };

/** Places where a test holds an operation or lets it fail: what these throw, the caller gets. */
export interface MemoryStoreHooks {
  /** Before the documents are looked at. */
  beforeOperation?: (operation: StoreOperation) => Promise<void>;
  /** After a commit was applied, before its reply: throwing StoreUnavailableError here is a lost reply. */
  afterCommit?: (writes: readonly Write[]) => Promise<void>;
}

/**
 * A DocumentStore in this process's memory: for running without an emulator, and the fake of the tests.
 * It refuses, orders and guards as Firestore does (one contract suite runs on both). Reads by id and
 * writes do not depend on how much is stored; a query scans its own collection. Nothing outlives it.
 */
export function createMemoryDocumentStore(hooks: MemoryStoreHooks = {}): DocumentStore {
  const documents = new MemoryDocuments();

  /** Lets everything else run first, as a call over a network would. */
  async function begin(operation: StoreOperation): Promise<void> {
    await setImmediate();
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
  };
}

function released(document: QueriedDocument): StoredDocument {
  return { ...document, fields: copyOf(document.fields) };
}

/** Collection path → document path → document. Stored documents are replaced, never changed. */
class MemoryDocuments {
  readonly #collections = new Map<string, Map<string, QueriedDocument>>();
  #commits = 0;

  find(path: string): QueriedDocument | undefined {
    return this.#collections.get(collectionOf(path))?.get(path);
  }

  in(collection: string): Iterable<QueriedDocument> {
    return this.#collections.get(collection)?.values() ?? [];
  }

  /** All writes or none, without a pause in between. The update times, '' for deletes. */
  apply(writes: readonly CheckedWrite[]): string[] {
    const lost = writes.filter((write) => !this.#isGuardHeld(write)).map((write) => write.path);
    if (lost.length > 0) throw new GuardLostError({ paths: lost });
    this.#commits += 1;
    const updateTime = `${this.#commits}.0`;
    const results = writes.map((write) => this.#result(write, updateTime));
    for (const [index, write] of writes.entries()) this.#put(write.path, results[index]);
    return results.map((document) => document?.updateTime ?? '');
  }

  #isGuardHeld(write: CheckedWrite): boolean {
    const document = this.find(write.path);
    if (write.op === 'create') return document === undefined;
    return isHeld(write.guard, document);
  }

  #result(write: CheckedWrite, updateTime: string): QueriedDocument | undefined {
    const before = this.find(write.path);
    if (write.op === 'delete') return undefined;
    if (write.op === 'create') return { path: write.path, fields: write.fields, updateTime };
    const fields = updatedFields(before?.fields ?? {}, write);
    checkDocumentSize(write.path, documentSize(write.path, fields).bytes);
    // An update that changes nothing keeps the update time: so does Firestore.
    if (before && isSameValue(before.fields, fields)) return before;
    return { path: write.path, fields, updateTime };
  }

  #put(path: string, document: QueriedDocument | undefined): void {
    const collection = collectionOf(path);
    const documents = this.#collections.get(collection) ?? new Map<string, QueriedDocument>();
    if (document === undefined) documents.delete(path);
    else documents.set(path, document);
    if (documents.size === 0) this.#collections.delete(collection);
    else this.#collections.set(collection, documents);
  }
}

function isHeld(guard: Guard | undefined, document: QueriedDocument | undefined): boolean {
  if (guard === undefined) return true;
  if ('exists' in guard) return document !== undefined;
  return document?.updateTime === guard.updateTime;
}

function collectionOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}
