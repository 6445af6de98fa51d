import { createDatabaseClock } from '#functions/adapters/clocks.ts';
import {
  deleteCollections,
  createFirestoreDocumentStore,
  watchQuery,
} from '#functions/adapters/firestore.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import {
  demoProjectId,
  firestoreEmulatorHost,
} from '#test/support/processes/emulator-environment.ts';
import { createShiftedClock } from '#test/fakes/manual-clock.ts';
import { eventually } from '../support/eventually.ts';
import { describeDocumentStore } from './document-store.suite.ts';
import { Firestore } from '@google-cloud/firestore';
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';

firestoreEmulatorHost();

const open = (options: { clock?: ReturnType<typeof createDatabaseClock> } = {}) =>
  createFirestoreDocumentStore({ projectId: demoProjectId(), deadlineMs: 20_000, ...options });

describeDocumentStore('Firestore emulator', open);

const uses = {
  commit: (store: DocumentStore) =>
    store.commit([{ op: 'create', path: 'users/u/turns/t', fields: { a: 1 } }]),
  get: (store: DocumentStore) => store.get(['users/u/turns/t']),
  query: (store: DocumentStore) => store.query({ collection: 'users/u/turns', limit: 1 }),
  sum: (store: DocumentStore) => store.sum('users/u/turns', 'a'),
};

test.each(['get', 'query', 'sum', 'commit'] as const)(
  'a reply of %s sets the clock of an instance whose machine is a day fast',
  async (operation) => {
    const clock = createDatabaseClock(createShiftedClock(24 * 60 * 60_000));

    await uses[operation](open({ clock }));

    // The emulator of this machine answers within this time.
    expect(Math.abs(clock.now().getTime() - Date.now())).toBeLessThan(20_000);
  },
);

/** The SDK refuses to end a client that has listeners or writers left: that is what the tests below ask it. */
const newDatabase = () => new Firestore({ projectId: demoProjectId() });

test('a watch stops listening when its reader leaves, or when its signal fires while it waits', async () => {
  const database = newDatabase();
  const controller = new AbortController();
  const options = { signal: controller.signal, deadlineMs: 20_000 };
  const things = database.collection('things');

  for await (const first of watchQuery(things, options)) {
    expect(first).toEqual([]);
    await expect(database.terminate()).rejects.toMatch('1 active listeners');
    break;
  }
  const batches = watchQuery(things, options);
  await batches.next();
  const waiting = batches.next();
  controller.abort();

  expect(await waiting).toEqual({ done: true, value: undefined });
  await expect(database.terminate()).resolves.toBeUndefined();
});

test('a deletion starts nothing after its signal has fired, and leaves no bulk writer open', async () => {
  const database = newDatabase();
  const things = database.collection('things');
  await things.doc('a').create({});
  await things.doc('b').collection('parts').doc('c').create({});
  const controller = new AbortController();

  const deletion = deleteCollections([things], { signal: controller.signal, graceMs: 20_000 });
  controller.abort();

  await expect(deletion).rejects.toThrow('2 deletes failed');
  const left = await things.listDocuments();
  expect(left.map(({ id }) => id)).toEqual(['a', 'b']);
  expect(await deleteCollections([things], { signal: undefined, graceMs: 20_000 })).toBe(2);
  await expect(database.terminate()).resolves.toBeUndefined();
});

// On a machine that stands still all deletes may have ended before the listener is told of the first.
test(
  'a deletion waits for running deletes no longer than its grace period',
  { retry: 2 },
  async () => {
    const database = newDatabase();
    const collection = database.collection(`things/${randomUUID()}/parts`);
    const writer = database.bulkWriter({ throttling: false });
    for (let index = 0; index < 1_500; index += 1) void writer.create(collection.doc(), {});
    await writer.close();
    const controller = new AbortController();

    const deletion = deleteCollections([collection], { signal: controller.signal, graceMs: 1 });
    const leave = collection.onSnapshot((all) => {
      if (all.size < 1_500) controller.abort();
    });

    await expect(deletion).rejects.toThrow('the end of a stopped deletion');
    leave();
    await eventually('the writer is closed', async () =>
      database.terminate().then(
        () => true,
        () => undefined,
      ),
    );
  },
);
