import { GuardLostError } from '#shared/lib/errors.ts';
import type { Value, Guard, DocumentStore, StoredDocument, Write } from '#shared/ports/ports.ts';
import { ChangeQueue } from '#shared/store/change-queue.ts';
import { type CheckedQuery, checkQuery, watchedQuery } from '#shared/store/checked-query.ts';
import {
  type CheckedWrite,
  checkDocumentSize,
  checkWrites,
  copyValue,
  documentSize,
  type FieldSetting,
  type StoredFields,
  type StoredValue,
} from '#shared/store/checked-write.ts';
import { checkCollectionPath, checkDocumentPath } from '#shared/store/names.ts';
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

/**
 * Firestore's order of values: null, booleans, NaN, numbers, dates, text (by UTF-8 bytes), arrays, maps.
 * Below zero when `a` comes first, 0 when a query takes them for equal (0 and -0, NaN and NaN).
 */
function compareValues(a: StoredValue, b: StoredValue): number {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  if (a instanceof Date && b instanceof Date) return a.getTime() - b.getTime();
  if (Array.isArray(a) && Array.isArray(b)) return compareLists(a, b);
  if (isMap(a) && isMap(b)) return compareLists(sortedEntries(a), sortedEntries(b));
  const ranks = typeRank(a) - typeRank(b);
  return ranks !== 0 ? ranks : compareScalars(a, b);
}

/** Values of one rank can stand on the two sides of `<`; no inequality crosses ranks. */
function typeRank(value: StoredValue): number {
  if (value === null) return 0;
  if (typeof value === 'boolean') return 1;
  if (typeof value === 'number') return Number.isNaN(value) ? 2 : 3;
  if (value instanceof Date) return 4;
  if (typeof value === 'string') return 5;
  return Array.isArray(value) ? 6 : 7;
}

/** Order of UTF-8 bytes: JavaScript's own puts 😀 before U+FFEE. */
const compareText = (a: string, b: string): number =>
  a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));

function isMap(value: StoredValue | undefined): value is { [field: string]: StoredValue } {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
  );
}

function compareLists(a: readonly StoredValue[], b: readonly StoredValue[]): number {
  for (const [index, left] of a.entries()) {
    const right = b[index];
    if (right === undefined) break;
    const difference = compareValues(left, right);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Name, value, name, value, … by name: maps compare entry by entry. */
function sortedEntries(map: { [field: string]: StoredValue }): StoredValue[] {
  return Object.entries(map)
    .toSorted(([a], [b]) => compareText(a, b))
    .flat();
}

function compareScalars(a: StoredValue, b: StoredValue): number {
  if (Number.isNaN(a) || a === b) return 0;
  return Number(a) < Number(b) ? -1 : 1;
}

/** The value at a field path, `undefined` where there is none. */
function valueAt(fields: StoredFields, fieldPath: readonly string[]): StoredValue | undefined {
  let value: StoredValue | undefined = fields;
  for (const name of fieldPath) {
    value = isMap(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value;
}

/** New fields with the update applied; `fields` stays as it is. */
function updatedFields(
  fields: StoredFields,
  update: { set: readonly FieldSetting[]; remove: readonly string[][] },
): StoredFields {
  let result = fields;
  for (const { fieldPath, value } of update.set) result = withValue(result, fieldPath, value);
  for (const fieldPath of update.remove) result = withoutValue(result, fieldPath);
  return result;
}

/** As in Firestore, a value on the way that is no map gives way to one. */
function withValue(
  fields: StoredFields,
  [name = '', ...rest]: readonly string[],
  value: StoredValue,
): StoredFields {
  if (rest.length === 0) return { ...fields, [name]: value };
  const child = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return { ...fields, [name]: withValue(isMap(child) ? child : {}, rest, value) };
}

/** The map that a field is taken from stays, even when it is left empty. */
function withoutValue(fields: StoredFields, [name = '', ...rest]: readonly string[]): StoredFields {
  const child = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (rest.length > 0) {
    return isMap(child) ? { ...fields, [name]: withoutValue(child, rest) } : fields;
  }
  const { [name]: _removed, ...others } = fields;
  return others;
}

interface QueriedDocument {
  path: string;
  fields: StoredFields;
  updateTime: string;
}

interface Position {
  value: StoredValue | undefined;
  path: string;
}

/**
 * The documents of one collection that a query finds, in its order. A document without the field that is
 * compared or ordered by is not found. Scans and sorts all of `documents`.
 */
function runQuery(documents: Iterable<QueriedDocument>, query: CheckedQuery): QueriedDocument[] {
  const orderPath = query.orderBy?.field.split('.');
  const sign = query.orderBy?.direction === 'desc' ? -1 : 1;
  const positionOf = (document: QueriedDocument): Position => ({
    path: document.path,
    value: orderPath && valueAt(document.fields, orderPath),
  });
  const matches = matcher(query);
  const after = startOf(query);
  return [...documents]
    .filter((document) => matches(document.fields))
    .map((document) => ({ document, position: positionOf(document) }))
    .filter(({ position }) => orderPath === undefined || position.value !== undefined)
    .filter(({ position }) => !after || sign * comparePositions(position, after) > 0)
    .toSorted((a, b) => sign * comparePositions(a.position, b.position))
    .slice(0, query.limit)
    .map(({ document }) => document);
}

function startOf({ startAfter, collection, orderBy }: CheckedQuery): Position | undefined {
  if (startAfter === undefined) return undefined;
  const value = orderBy && startAfter.value;
  return { path: startAfter.path, value: value === undefined ? value : copied(value, collection) };
}

/** Documents of one collection: their paths order as their ids. */
function comparePositions(a: Position, b: Position): number {
  const byValue =
    a.value === undefined || b.value === undefined ? 0 : compareValues(a.value, b.value);
  return byValue === 0 ? compareText(a.path, b.path) : byValue;
}

function matcher(query: CheckedQuery): (fields: StoredFields) => boolean {
  const conditions = (query.where ?? []).map(({ field, op, value }) => ({
    fieldPath: field.split('.'),
    op,
    value: copied(value, query.collection),
  }));
  return (fields) =>
    conditions.every(({ fieldPath, op, value }) => {
      const found = valueAt(fields, fieldPath);
      return found !== undefined && holds(found, op, value);
    });
}

function holds(
  found: StoredValue,
  op: '==' | '<' | '<=' | '>' | '>=',
  value: StoredValue,
): boolean {
  if (typeRank(found) !== typeRank(value)) return false;
  const difference = compareValues(found, value);
  const results = {
    '==': difference === 0,
    '<': difference < 0,
    '<=': difference <= 0,
    '>': difference > 0,
    '>=': difference >= 0,
  };
  return results[op];
}

function copied(value: Value, path: string): StoredValue {
  return copyValue(value, { path, field: 'of the query', depth: 0 });
}

/** Collection path → document path → document. Stored documents are replaced, never changed. */
class MemoryDocuments {
  readonly #collections = new Map<string, Map<string, QueriedDocument>>();
  readonly #followers = new Map<string, Set<ChangeQueue<QueriedDocument>>>();
  readonly #second: number;
  #commits = 0;

  /** `second`: the first part of every update time. */
  constructor(second: number) {
    this.#second = second;
  }

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
    const updateTime = `${this.#second}.${this.#commits}`;
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
    // An update that changes nothing keeps the update time: so does Firestore. 0 differs from -0, and NaN is NaN.
    if (before && isDeepStrictEqual(before.fields, fields)) return before;
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
  /** When it began, seconds since 1970: update times of an earlier store lie before those of this one. Default: 1. */
  second?: number;
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
  const documents = new MemoryDocuments(hooks.second ?? 1);
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

    async *watch(collection, signal, since) {
      const query = watchedQuery(collection, since);
      await begin({ name: 'watch', collection });
      yield* changesIn(documents, query, signal);
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

/** All documents that a query finds, then each batch of changes, until `signal` fires. */
async function* changesIn(documents: MemoryDocuments, query: CheckedQuery, signal: AbortSignal) {
  const queue = new ChangeQueue<QueriedDocument>();
  const isFound = matcher(query);
  for (const document of runQuery(documents.in(query.collection), query)) queue.put(document);
  queue.release();
  const unfollow = documents.follow(query.collection, queue);
  try {
    for await (const batch of queue.batches(signal)) {
      const found = batch.filter(({ fields }) => isFound(fields));
      yield found.map(released);
    }
  } finally {
    unfollow();
  }
}

/** A copy, so that nobody outside holds what the store holds. */
const released = (document: QueriedDocument): StoredDocument => ({
  ...document,
  fields: copyFields(document.fields),
});

const copyFields = (fields: StoredFields): StoredFields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, copy(value)]));

function copy(value: StoredValue): StoredValue {
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Date) return new Date(value);
  return Array.isArray(value) ? value.map(copy) : copyFields(value);
}
