import { GuardLostError } from '#shared/errors.ts';
import type { Guard } from '#shared/ports/ports.ts';
import type { ChangeQueue } from '#shared/store/change-queue.ts';
import { type CheckedWrite, checkDocumentSize, documentSize } from '#shared/store/checked-write.ts';
import type { QueriedDocument } from './memory-query.ts';
import { updatedFields } from './stored-fields.ts';
import { isSameValue } from './value-order.ts';

/** Collection path → document path → document. Stored documents are replaced, never changed. */
export class MemoryDocuments {
  readonly #collections = new Map<string, Map<string, QueriedDocument>>();
  readonly #followers = new Map<string, Set<ChangeQueue<QueriedDocument>>>();
  #commits = 0;

  /** The document at a path. */
  find(path: string): QueriedDocument | undefined {
    return this.#collections.get(collectionOf(path))?.get(path);
  }

  /** The documents directly in a collection, in no order. */
  in(collection: string): Iterable<QueriedDocument> {
    return this.#collections.get(collection)?.values() ?? [];
  }

  /**
   * Paths of up to `limit` documents below a document, at any depth, in no order. Looks through the names
   * of all collections, not of all documents.
   */
  below(path: string, limit: number): string[] {
    const found: string[] = [];
    for (const [collection, documents] of this.#collections) {
      if (!collection.startsWith(`${path}/`)) continue;
      for (const document of documents.keys()) {
        if (found.length === limit) return found;
        found.push(document);
      }
    }
    return found;
  }

  /** All writes or none, without a pause in between. The update times, '' for deletes. */
  apply(writes: readonly CheckedWrite[]): string[] {
    const lost = writes.filter((write) => !this.#isGuardHeld(write)).map((write) => write.path);
    if (lost.length > 0) throw new GuardLostError({ paths: lost });
    this.#commits += 1;
    const updateTime = `${this.#commits}.0`;
    const results = writes.map((write) => this.#result(write, updateTime));
    this.#putAll(writes.map(({ path }, index) => [path, results[index]]));
    return results.map((document) => document?.updateTime ?? '');
  }

  /** Deletes documents, those that are there. */
  remove(paths: readonly string[]): void {
    this.#putAll(paths.map((path) => [path, undefined]));
  }

  /** Every later change in the collection goes into `queue`, released once per commit. Call the result to end it. */
  follow(collection: string, queue: ChangeQueue<QueriedDocument>): () => void {
    const queues = this.#followers.get(collection) ?? new Set();
    this.#followers.set(collection, queues.add(queue));
    return () => {
      queues.delete(queue);
      if (queues.size === 0) this.#followers.delete(collection);
    };
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

  #putAll(changes: readonly (readonly [string, QueriedDocument | undefined])[]): void {
    const told = new Set<ChangeQueue<QueriedDocument>>();
    for (const [path, document] of changes) {
      if (this.find(path) === document) continue;
      this.#put(path, document);
      for (const queue of this.#followers.get(collectionOf(path)) ?? []) {
        if (document === undefined) queue.drop(path);
        else queue.put(document);
        told.add(queue);
      }
    }
    for (const queue of told) queue.release();
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
