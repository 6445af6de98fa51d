import { DeadlineError, abandonAfter } from '#functions/lib/deadline.ts';
import {
  AppError,
  GuardLostError,
  InvalidWriteError,
  StoreUnavailableError,
} from '#shared/lib/errors.ts';
import type {
  DocumentFields,
  StoredDocument,
  Value,
  DocumentStore,
  Guard,
} from '#shared/ports/ports.ts';
import { ChangeQueue } from '#shared/store/change-queue.ts';
import { checkQuery, watchedQuery, type CheckedQuery } from '#shared/store/checked-query.ts';
import { checkWrites, type CheckedWrite } from '#shared/store/checked-write.ts';
import { checkCollectionPath, checkDocumentPath } from '#shared/store/names.ts';
import type { DatabaseClock } from './clocks.ts';
import {
  keepAliveSettings,
  type KeepAlive,
  createGrpcDeadline,
  type GrpcDeadline,
} from './grpc.ts';
import type {
  DocumentSnapshot,
  CollectionReference,
  BulkWriter,
  Firestore,
  Precondition,
  Query as FirestoreQuery,
  WriteBatch,
} from '@google-cloud/firestore';
import type * as FirestoreSdk from '@google-cloud/firestore';

interface StoreOptions {
  projectId: string;
  deadlineMs: number;
  databaseId?: string;
  clock?: Pick<DatabaseClock, 'asking'>;
  keepAlive?: KeepAlive;
}

/**
 * The DocumentStore over Cloud Firestore, or over its emulator when FIRESTORE_EMULATOR_HOST is set. Nothing
 * is loaded or connected before the first call. Every call ends within `deadlineMs` (the first one after
 * the SDK was loaded, about 0.4 s); a commit that ends so may still be applied. Of `watch` and `deleteBelow`
 * that holds for the first reply; their signals end them. Reads and commits set `clock`.
 *
 * gRPC, not `preferRest`: the SDK loads its REST transport in any case and gRPC costs 40 ms more on top of
 * 480 (measured November 2026); REST would parse each document twice, and against the emulator it asks
 * for credentials.
 */
export function createFirestoreDocumentStore(options: StoreOptions): DocumentStore {
  const client = openedOnce(options);
  const { call } = client;
  return {
    async get(paths) {
      for (const path of paths) checkDocumentPath(path);
      if (paths.length === 0) return [];
      return call({ operation: 'get', paths }, async ({ sdk, database }, heard) => {
        const found = await database.getAll(...paths.map((path) => database.doc(path)));
        heard(found[0]?.readTime);
        return found.map((snapshot) => storedDocument(sdk, snapshot));
      });
    },

    async commit(writes) {
      const checked = checkWrites(writes);
      if (checked.length === 0) return [];
      const paths = checked.map((write) => write.path);
      return call({ operation: 'commit', paths }, async (ready, heard) => {
        const batch = ready.database.batch();
        for (const write of checked) addWrite(ready, batch, write);
        const results = await batch.commit();
        heard(results[0]?.writeTime);
        return results.map(({ writeTime }, index) =>
          checked[index]?.op === 'delete' ? '' : toUpdateTime(writeTime),
        );
      });
    },

    async query(query) {
      const checked = checkQuery(query);
      return call({ operation: 'query', paths: [checked.collection] }, async (ready, heard) => {
        const { docs, readTime } = await firestoreQuery(ready, checked).get();
        heard(readTime);
        return docs.flatMap((snapshot) => storedDocument(ready.sdk, snapshot) ?? []);
      });
    },

    async sum(collection, field) {
      checkCollectionPath(collection);
      return call({ operation: 'sum', paths: [collection] }, async ({ sdk, database }, heard) => {
        const total = sdk.AggregateField.sum(field);
        const summed = await database.collection(collection).aggregate({ total }).get();
        heard(summed.readTime);
        return summed.data().total;
      });
    },

    watch: (collection, signal, since) => watch(client, watchedQuery(collection, since), signal),
    deleteBelow: (path, signal) => deleteBelow(client, path, signal),
  };
}

/* The client, which is opened on the first use. */

/** Its classes are handed on, so that this file does not load the SDK. */
type Sdk = typeof FirestoreSdk;

interface Opened {
  sdk: Sdk;
  grpcDeadline: GrpcDeadline;
  database: Firestore;
}

/** Takes the time that a reply carries. */
type Heard = (time: { toDate(): Date } | undefined) => void;

type Client = ReturnType<typeof openedOnce>;

/** `whenOpen` opens the client on the first use; `call` runs one call on it that ends within `deadlineMs`. */
function openedOnce(options: StoreOptions) {
  const { deadlineMs, clock } = options;
  let opened: Promise<Opened> | undefined;
  async function whenOpen(): Promise<Opened> {
    opened ??= open(options);
    return opened;
  }

  async function call<Result>(
    description: StoreCall,
    run: (opened: Opened, heard: Heard) => Promise<Result>,
  ): Promise<Result> {
    const ready = await whenOpen();
    const set = clock?.asking();
    const heard: Heard = (time) => time && set?.(time.toDate());
    try {
      return await abandonAfter(
        async () => ready.grpcDeadline.run(deadlineMs, async () => run(ready, heard)),
        { operation: description.operation, deadlineMs },
      );
    } catch (error) {
      throw toStoreError(error, description);
    }
  }

  return { deadlineMs, whenOpen, call };
}

/** The SDK, which takes a tenth of a second to load. */
export const loadFirestore = (): Promise<Sdk> => import('@google-cloud/firestore');

async function open(
  options: Pick<StoreOptions, 'projectId' | 'databaseId' | 'keepAlive'>,
): Promise<Opened> {
  const sdk = await loadFirestore();
  const grpcDeadline = createGrpcDeadline();
  const database = new sdk.Firestore({
    projectId: options.projectId,
    ...(options.databaseId === undefined ? {} : { databaseId: options.databaseId }),
    ignoreUndefinedProperties: true,
    ...grpcDeadline.clientSettings,
    ...keepAliveSettings(options.keepAlive),
  });
  return { sdk, database, grpcDeadline };
}

/* Writes and queries as the SDK takes them. */

function addWrite({ sdk, database }: Opened, batch: WriteBatch, write: CheckedWrite): void {
  const document = database.doc(write.path);
  switch (write.op) {
    case 'create':
      batch.create(document, write.fields);
      return;
    case 'delete':
      batch.delete(document, write.guard && precondition(sdk, write.path, write.guard));
      return;
    case 'merge': {
      const names = [...write.set, ...write.remove.map((fieldPath) => ({ fieldPath }))].map(
        ({ fieldPath: [name = ''] }) => new sdk.FieldPath(name),
      );
      const fields = Object.fromEntries([
        ...write.set.map(({ fieldPath: [name = ''], value }) => [name, value] as const),
        ...write.remove.map(([name = '']) => [name, sdk.FieldValue.delete()] as const),
      ]);
      batch.set(document, fields, { mergeFields: names });
      return;
    }
    case 'update': {
      const changes: [string[], unknown][] = [
        ...write.set.map(({ fieldPath, value }): [string[], unknown] => [fieldPath, value]),
        ...write.remove.map((path): [string[], unknown] => [path, sdk.FieldValue.delete()]),
      ];
      const [[field, value] = [[NO_FIELD], sdk.FieldValue.delete()], ...rest] = changes;
      const others = rest.flatMap(([path, other]) => [new sdk.FieldPath(...path), other]);
      const guard = precondition(sdk, write.path, write.guard);
      batch.update(document, new sdk.FieldPath(...field), value, ...others, guard);
    }
  }
}

/** Removing a field that no document has changes nothing: an update with only its guard. */
const NO_FIELD = 'absent';

function precondition(sdk: Sdk, path: string, guard: Guard): Precondition {
  if ('exists' in guard) return { exists: true };
  const [, seconds, nanos] = /^(\d{1,12})\.(\d{1,9})$/u.exec(guard.updateTime) ?? [];
  // No document ever had a time of another form.
  if (seconds === undefined || nanos === undefined) throw new GuardLostError({ paths: [path] });
  return { lastUpdateTime: new sdk.Timestamp(Number(seconds), Number(nanos)) };
}

function firestoreQuery({ sdk, database }: Opened, query: CheckedQuery): FirestoreQuery {
  const byId = sdk.FieldPath.documentId();
  let result: FirestoreQuery = database.collection(query.collection);
  for (const { field, op, value } of query.where ?? []) {
    result = result.where(new sdk.FieldPath(...field.split('.')), op, value);
  }
  if (query.orderBy) {
    const { field, direction } = query.orderBy;
    result = result.orderBy(new sdk.FieldPath(...field.split('.')), direction);
  }
  result = result.orderBy(byId, query.orderBy?.direction ?? 'asc').limit(query.limit);
  if (query.startAfter === undefined) return result;
  const { path, value } = query.startAfter;
  const id = path.slice(path.lastIndexOf('/') + 1);
  return query.orderBy ? result.startAfter(value, id) : result.startAfter(id);
}

/* Documents as the SDK gives them. */

/** A document as the SDK read it, `undefined` where there is none. */
function storedDocument(sdk: Sdk, snapshot: DocumentSnapshot): StoredDocument | undefined {
  const fields = snapshot.data();
  if (fields === undefined || snapshot.updateTime === undefined) return undefined;
  return {
    path: snapshot.ref.path,
    fields: documentFields(sdk, fields),
    updateTime: toUpdateTime(snapshot.updateTime),
  };
}

/** A time of Firestore as the opaque update time of the port, nanoseconds kept. */
function toUpdateTime(time: { seconds: number; nanoseconds: number }): string {
  return `${time.seconds}.${time.nanoseconds}`;
}

/** The fields of a document as the SDK gives them, timestamps as dates of millisecond precision. */
function documentFields(sdk: Sdk, fields: Readonly<Record<string, unknown>>): DocumentFields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, documentValue(sdk, value)]),
  );
}

/** References, places, bytes and vectors are objects of classes; Recap writes none, and reads them as nothing. */
const isMap = (value: object) => Object.getPrototypeOf(value) === Object.prototype;

function documentValue(sdk: Sdk, value: unknown): Value {
  if (value === null) return null;
  if (typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string') {
    return value;
  }
  if (value instanceof sdk.Timestamp) return value.toDate();
  if (Array.isArray(value)) return value.map((item) => documentValue(sdk, item));
  if (typeof value === 'object') return isMap(value) ? documentFields(sdk, { ...value }) : null;
  throw new TypeError(`a stored value of type ${typeof value}`);
}

/* Watching a collection. */

async function* watch(
  { whenOpen, deadlineMs }: Client,
  { collection, where = [] }: CheckedQuery,
  signal: AbortSignal,
): ReturnType<DocumentStore['watch']> {
  const { sdk, database } = await whenOpen();
  if (signal.aborted) return;
  try {
    let query: FirestoreQuery = database.collection(collection);
    for (const { field, op, value } of where) query = query.where(field, op, value);
    const watched = watchQuery(query, { signal, deadlineMs });
    for await (const batch of watched) {
      yield batch.flatMap((snapshot) => storedDocument(sdk, snapshot) ?? []);
    }
  } catch (error) {
    throw toStoreError(error, { operation: 'watch', paths: [collection] });
  }
}

/**
 * The snapshots of the documents that a query finds: all that are there, then those
 * that are created or changed, until `signal` fires. The SDK connects again by itself when the stream
 * breaks. Throws DeadlineError when the first ones take longer than `deadlineMs`, and what the SDK gives
 * for good (a right that is missing).
 */
export async function* watchQuery(
  query: Pick<FirestoreQuery, 'onSnapshot'>,
  options: { signal: AbortSignal; deadlineMs: number },
): AsyncGenerator<DocumentSnapshot[], void, undefined> {
  const { signal, deadlineMs } = options;
  const queue = new ChangeQueue<{ path: string; snapshot: DocumentSnapshot }>();
  const fail = (error: Error) => queue.fail(error);
  const late = new DeadlineError({ operation: 'watch', deadlineMs });
  const timer = setTimeout(fail, deadlineMs, late);
  const unsubscribe = query.onSnapshot((all) => {
    clearTimeout(timer);
    for (const { type, doc } of all.docChanges()) {
      if (type === 'removed') queue.drop(doc.ref.path);
      else queue.put({ path: doc.ref.path, snapshot: doc });
    }
    queue.release();
  }, fail);
  try {
    for await (const batch of queue.batches(signal)) yield batch.map(({ snapshot }) => snapshot);
  } finally {
    clearTimeout(timer);
    unsubscribe();
  }
}

/* Deleting what lies below a document. */

async function deleteBelow(
  { call, deadlineMs }: Client,
  path: string,
  signal: AbortSignal | undefined,
) {
  checkDocumentPath(path);
  signal?.throwIfAborted();
  const description: StoreCall = { operation: 'deleteBelow', paths: [path] };
  const collections = await call(description, async ({ database }) =>
    database.doc(path).listCollections(),
  );
  try {
    return await deleteCollections(collections, { signal, graceMs: deadlineMs });
  } catch (error) {
    signal?.throwIfAborted();
    throw toStoreError(error, description);
  }
}

interface Limits {
  signal: AbortSignal | undefined;
  graceMs: number;
}

/**
 * Deletes the documents of collections and all below them, also below documents that do not exist;
 * resolves to how many. The SDK reads names alone, at most 5,000 at a time, and starts at 500 deletions a
 * second, as Firestore's guide on ramping up traffic asks.
 *
 * When `signal` fires, no more deletions start and the promise is rejected, with no certain error; those
 * of the names already read (10 s at most at that rate) are awaited for `graceMs`, then left to end in
 * the background. Throws errors of the SDK.
 */
export async function deleteCollections(
  collections: readonly CollectionReference[],
  limits: Limits,
): Promise<number> {
  let deleted = 0;
  for (const collection of collections) deleted += await deleteCollection(collection, limits);
  return deleted;
}

async function deleteCollection(collection: CollectionReference, limits: Limits): Promise<number> {
  limits.signal?.throwIfAborted();
  const writer = collection.firestore.bulkWriter();
  refuseAfter(limits.signal, writer);
  let deleted = 0;
  writer.onWriteResult(() => {
    deleted += 1;
  });
  await settledOrAborted(deleteWith(writer, collection), limits);
  return deleted;
}

/** The writer is not closed before the end: the SDK would throw where nobody can catch it. */
async function deleteWith(writer: BulkWriter, collection: CollectionReference): Promise<void> {
  try {
    await collection.firestore.recursiveDelete(collection, writer);
  } finally {
    await writer.close();
  }
}

/** `recursiveDelete` cannot be stopped; it can be denied its deletions, which it takes as failed ones. */
function refuseAfter(signal: AbortSignal | undefined, writer: BulkWriter): void {
  const start = writer.delete.bind(writer);
  writer.delete = async (document, condition) => {
    signal?.throwIfAborted();
    return start(document, condition);
  };
}

async function settledOrAborted(call: Promise<void>, limits: Limits): Promise<void> {
  const { signal, graceMs } = limits;
  const { promise: graceOver, reject } = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const startGrace = (): void => {
    const late = { operation: 'the end of a stopped deletion', deadlineMs: graceMs };
    timer = setTimeout(() => reject(new DeadlineError(late)), graceMs);
  };
  signal?.addEventListener('abort', startGrace);
  try {
    await Promise.race([call, graceOver]);
  } finally {
    signal?.removeEventListener('abort', startGrace);
    clearTimeout(timer);
  }
}

/* What an error of a call means. */

export interface StoreCall {
  operation: 'get' | 'commit' | 'query' | 'sum' | 'watch' | 'deleteBelow';
  /** The documents of the call; for `query`, `sum` and `watch` the collection. */
  paths: readonly string[];
}

/** google.rpc.Code, those that are told apart. */
const Code = {
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  internal: 13,
  unavailable: 14,
};

/** These pass by themselves. A commit that ends so may have been applied. */
const transient: readonly number[] = [
  Code.cancelled,
  Code.unknown,
  Code.deadlineExceeded,
  Code.resourceExhausted,
  Code.aborted,
  Code.internal,
  Code.unavailable,
];

/**
 * What a failed Firestore call means to its caller: a guard lost, a write that can never succeed, a store
 * that does not answer (also for errors of unknown kind, which the network gives), or, for missing rights,
 * a missing database and a missing index, AppError STORE_REFUSED, which only a deployment can mend.
 */
export function toStoreError(error: unknown, call: StoreCall): AppError {
  if (error instanceof AppError) return error;
  const operation = `${call.operation} of ${call.paths.slice(0, 4).join(', ')}`;
  if (error instanceof DeadlineError) return new StoreUnavailableError({ operation, cause: error });
  const code = codeOf(error);
  if (call.operation === 'commit') {
    if (isLostGuard(code, error)) return new GuardLostError({ paths: call.paths, cause: error });
    if (code === Code.invalidArgument) {
      const path = call.paths.slice(0, 4).join(', ');
      return new InvalidWriteError({ path, problem: 'refused by the store', cause: error });
    }
  }
  if (code === undefined || transient.includes(code)) {
    return new StoreUnavailableError({ operation, cause: error });
  }
  return new AppError({
    reason: 'STORE_REFUSED',
    message: `the store refused ${operation} with code ${code}`,
    publicMessage: 'The service is not set up correctly.',
    cause: error,
  });
}

function isLostGuard(code: number | undefined, error: unknown): boolean {
  const message = error instanceof Error ? error.message : '';
  if (code === Code.alreadyExists || code === Code.failedPrecondition) return true;
  // "No document to update", but also "The database (default) does not exist".
  if (code === Code.notFound) return !/database .* does not exist/iu.test(message);
  // Contention is ABORTED too; a lost guard names the version that it wanted.
  return code === Code.aborted && /base version|precondition/iu.test(message);
}

function codeOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'number' ? error.code : undefined;
}
