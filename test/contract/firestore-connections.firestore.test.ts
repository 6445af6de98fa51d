import { randomUUID } from 'node:crypto';
import { Firestore } from '@google-cloud/firestore';
import { describe, expect, test } from 'vitest';
import { deleteCollections } from '#functions/adapters/firestore/firestore-deletion.ts';
import { watchCollection } from '#functions/adapters/firestore/firestore-watch.ts';
import { demoProjectId, firestoreEmulatorHost } from '../support/processes/emulator-environment.ts';
import { eventually } from '../support/eventually.ts';

firestoreEmulatorHost();

/** The SDK refuses to end a client that has listeners or writers left: that is what these tests ask it. */
function newDatabase(): Firestore {
  return new Firestore({ projectId: demoProjectId() });
}

async function ids(database: Firestore, collection: string): Promise<string[]> {
  const found = await database.collection(collection).listDocuments();
  return found.map(({ id }) => id);
}

describe('watchCollection', () => {
  test('watchCollection listens while it is read and stops when the reader leaves', async () => {
    const database = newDatabase();
    const options = { signal: new AbortController().signal, deadlineMs: 20_000 };

    for await (const first of watchCollection(database.collection('things'), options)) {
      expect(first).toEqual([]);
      await expect(database.terminate()).rejects.toMatch('1 active listeners');
      break;
    }

    await expect(database.terminate()).resolves.toBeUndefined();
  });

  test('watchCollection stops listening when its signal fires while it waits', async () => {
    const database = newDatabase();
    const controller = new AbortController();
    const options = { signal: controller.signal, deadlineMs: 20_000 };
    const batches = watchCollection(database.collection('things'), options);
    await batches.next();

    const waiting = batches.next();
    controller.abort();

    expect(await waiting).toEqual({ done: true, value: undefined });
    await expect(database.terminate()).resolves.toBeUndefined();
  });
});

describe('deleteCollections', () => {
  test('deleteCollections leaves no bulk writer open', async () => {
    const database = newDatabase();
    const things = database.collection('things');
    await things.doc('a').create({});

    expect(await deleteCollections([things], { signal: undefined, graceMs: 20_000 })).toBe(1);

    await expect(database.terminate()).resolves.toBeUndefined();
  });

  test('deleteCollections starts no deletion after its signal has fired', async () => {
    const database = newDatabase();
    const things = database.collection('things');
    await things.doc('a').create({});
    await things.doc('b').collection('parts').doc('c').create({});
    const controller = new AbortController();

    const deletion = deleteCollections([things], { signal: controller.signal, graceMs: 20_000 });
    controller.abort();

    await expect(deletion).rejects.toThrow('2 deletes failed');
    expect(await ids(database, 'things')).toEqual(['a', 'b']);
    await expect(database.terminate()).resolves.toBeUndefined();
  });

  test('deleteCollections waits for running deletions no longer than its grace period', async () => {
    const database = newDatabase();
    const collection = database.collection(`things/${randomUUID()}/parts`);
    const writer = database.bulkWriter({ throttling: false });
    for (let index = 0; index < 1_500; index += 1) void writer.create(collection.doc(), {});
    await writer.close();
    const controller = new AbortController();
    const options = { signal: controller.signal, graceMs: 1 };

    const deletion = deleteCollections([collection], options);
    const unsubscribe = collection.onSnapshot((all) => {
      if (all.size < 1_500) controller.abort();
    });

    await expect(deletion).rejects.toThrow('the end of a stopped deletion');

    unsubscribe();
    await eventually('the writer is closed', async () =>
      database.terminate().then(
        () => true,
        () => undefined,
      ),
    );
  });
});
