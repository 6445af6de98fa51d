import type {
  Firestore,
  Precondition,
  Query as FirestoreQuery,
  WriteBatch,
} from '@google-cloud/firestore';
import type * as FirestoreSdk from '@google-cloud/firestore';
import type { DocumentStore, Guard } from '#shared/ports/ports.ts';
import { GuardLostError } from '#shared/errors.ts';
import { checkQuery, type CheckedQuery } from '#shared/store/checked-query.ts';
import { checkWrites, type CheckedWrite } from '#shared/store/checked-write.ts';
import { checkCollectionPath, checkDocumentPath } from '#shared/store/names.ts';
import type { DatabaseClock } from './database-clock.ts';
import { abandonAfter } from '#functions/lib/deadline.ts';
import { deleteCollections } from './firestore-deletion.ts';
import { storedDocument, toUpdateTime } from './firestore-values.ts';
import { watchCollection } from './firestore-watch.ts';
import { keepAliveSettings, type KeepAlive } from '../google/grpc-keep-alive.ts';
import { createGrpcDeadline, type GrpcDeadline } from './grpc-deadline.ts';
import { toStoreError, type StoreCall } from './store-errors.ts';

type Sdk = typeof FirestoreSdk;

interface Opened {
  sdk: Sdk;
  grpcDeadline: GrpcDeadline;
  database: Firestore;
}

interface StoreOptions {
  projectId: string;
  deadlineMs: number;
  databaseId?: string;
  clock?: Pick<DatabaseClock, 'asking'>;
  keepAlive?: KeepAlive;
}

/** Removing a field that no document has changes nothing: an update with only its guard. */
const NO_FIELD = 'absent';

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

    watch: (collection, signal) => watch(client, collection, signal),
    deleteBelow: (path, signal) => deleteBelow(client, path, signal),
  };
}

async function* watch(
  { whenOpen, deadlineMs }: Client,
  collection: string,
  signal: AbortSignal,
): ReturnType<DocumentStore['watch']> {
  checkCollectionPath(collection);
  const { sdk, database } = await whenOpen();
  if (signal.aborted) return;
  try {
    const watched = watchCollection(database.collection(collection), { signal, deadlineMs });
    for await (const batch of watched) {
      yield batch.flatMap((snapshot) => storedDocument(sdk, snapshot) ?? []);
    }
  } catch (error) {
    throw toStoreError(error, { operation: 'watch', paths: [collection] });
  }
}

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

type Client = ReturnType<typeof openedOnce>;

/** Takes the time that a reply carries. */
type Heard = (time: { toDate(): Date } | undefined) => void;

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
    const limit = { operation: description.operation, deadlineMs };
    try {
      return await abandonAfter(
        async () => ready.grpcDeadline.run(deadlineMs, async () => run(ready, heard)),
        limit,
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

function addWrite({ sdk, database }: Opened, batch: WriteBatch, write: CheckedWrite): void {
  const document = database.doc(write.path);
  switch (write.op) {
    case 'create':
      batch.create(document, write.fields);
      return;
    case 'delete':
      batch.delete(document, write.guard && precondition(sdk, write.path, write.guard));
      return;
    case 'update': {
      const changes: [string[], unknown][] = [
        ...write.set.map(({ fieldPath, value }): [string[], unknown] => [fieldPath, value]),
        ...write.remove.map((path): [string[], unknown] => [path, sdk.FieldValue.delete()]),
      ];
      const [[field, value], ...rest] = nonEmpty(changes, [[NO_FIELD], sdk.FieldValue.delete()]);
      const others = rest.flatMap(([path, other]) => [new sdk.FieldPath(...path), other]);
      const guard = precondition(sdk, write.path, write.guard);
      batch.update(document, new sdk.FieldPath(...field), value, ...others, guard);
    }
  }
}

function nonEmpty<Item>(items: Item[], otherwise: Item): [Item, ...Item[]] {
  const [first = otherwise, ...rest] = items;
  return [first, ...rest];
}

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
