import type { RecapStore } from '../api.ts';

const OBJECT_STORE = 'values';

const resultOf = <Value>(request: IDBRequest<Value>): Promise<Value> =>
  new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error));
  });

/** In the database of this name: one for each user of the browser, such as `recap-${uid}`. */
export function indexedDbStore(name: string): RecapStore {
  let opened: Promise<IDBDatabase> | undefined;

  function open(): Promise<IDBDatabase> {
    const request = indexedDB.open(name, 1);
    request.addEventListener('upgradeneeded', () => request.result.createObjectStore(OBJECT_STORE));
    const database = resultOf(request);
    // One that could not be opened is tried again by the next call.
    database.then(
      (found) => {
        const forget = (): void => void (opened = undefined);
        found.addEventListener('close', forget);
        // The app deletes the database, at sign-out: an open connection would hold it up.
        found.addEventListener('versionchange', () => {
          found.close();
          forget();
        });
      },
      () => (opened = undefined),
    );
    return database;
  }

  async function begin(mode: IDBTransactionMode): Promise<IDBTransaction> {
    opened ??= open();
    return (await opened).transaction(OBJECT_STORE, mode, { durability: 'strict' });
  }

  async function change(work: (values: IDBObjectStore) => void): Promise<void> {
    const transaction = await begin('readwrite');
    await new Promise<void>((resolve, reject) => {
      transaction.addEventListener('complete', () => resolve());
      transaction.addEventListener('abort', () => reject(transaction.error));
      work(transaction.objectStore(OBJECT_STORE));
    });
  }

  const read = async <Value>(work: (values: IDBObjectStore) => IDBRequest<Value>): Promise<Value> =>
    resultOf(work((await begin('readonly')).objectStore(OBJECT_STORE)));

  return {
    get: (key) => read((values) => values.get(key)),
    set: (key, value) => change((values) => values.put(value, key)),
    delete: (key) => change((values) => values.delete(key)),
    keys: async (prefix) => {
      const range = IDBKeyRange.bound(prefix, `${prefix}\uFFFF`);
      return (await read((values) => values.getAllKeys(range))).map(String);
    },
  };
}
