import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { InvalidWriteError } from '#shared/errors.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import {
  EXISTS,
  newCollection,
  put,
  queriesOf,
} from '#test/support/stores/document-store-cases.ts';
import { untilTold, watched } from '#test/support/stores/watched-collection.ts';

export function describeWatch(store: DocumentStore): void {
  describeWatchedDocuments(store);
  describeSlowReader(store);
  describeEndOfWatch(store);
}

function describeWatchedDocuments(store: DocumentStore): void {
  const { seed } = queriesOf(store);

  describe('watch', () => {
    test('a watch of an empty collection begins with an empty batch', async () => {
      expect(await watched(store, newCollection()).next()).toEqual([]);
    });

    test('a watch begins with the existing documents in the order of their ids', async () => {
      const ids = ['b', '10', '😀', 'B', '2', '\uFFEE', 'a'];
      const collection = await seed(ids.map((id) => [id, {}]));

      const first = await watched(store, collection).next();

      const order = ['10', '2', 'B', 'a', 'b', '\uFFEE', '😀'];
      expect(first?.map(({ path }) => path)).toEqual(order.map((id) => `${collection}/${id}`));
    });

    test('a watch delivers whole documents with their update times', async () => {
      const collection = newCollection();
      const updateTime = await put(store, `${collection}/x`, { m: { at: new Date(5) } });

      expect(await watched(store, collection).next()).toEqual([
        { path: `${collection}/x`, fields: { m: { at: new Date(5) } }, updateTime },
      ]);
    });

    test('a watch reports a document that is created later', async () => {
      const collection = await seed([['a', {}]]);
      const batches = watched(store, collection);
      await batches.next();

      const updateTime = await put(store, `${collection}/b`, { v: 1 });

      expect(await batches.next()).toEqual([
        { path: `${collection}/b`, fields: { v: 1 }, updateTime },
      ]);
    });

    test('a watch reports an update with its new update time', async () => {
      const collection = await seed([['a', { v: 1, w: 1 }]]);
      const path = `${collection}/a`;
      const batches = watched(store, collection);
      await batches.next();

      const [updateTime] = await store.commit([
        { op: 'update', path, fields: { v: 2 }, guard: EXISTS },
      ]);

      expect(await batches.next()).toEqual([{ path, fields: { v: 2, w: 1 }, updateTime }]);
    });

    test('a watch does not report collections below or beside its own', async () => {
      const collection = await seed([['a', {}]]);
      const batches = watched(store, collection);
      await batches.next();

      await put(store, `${collection}/a/parts/b`, {});
      await put(store, `${collection}2/b`, {});
      await put(store, `${collection}/c`, {});

      expect(await batches.next()).toMatchObject([{ path: `${collection}/c` }]);
    });

    test('a watch reports no deletion, but the same id again after it', async () => {
      const collection = await seed([['a', { v: 1 }]]);
      const path = `${collection}/a`;
      const batches = watched(store, collection);
      await batches.next();

      await store.commit([{ op: 'delete', path }]);
      await put(store, path, { v: 2 });

      expect(await batches.next()).toMatchObject([{ path, fields: { v: 2 } }]);
    });

    test('changing a watched document does not change the store', async () => {
      const collection = await seed([['a', { v: 1 }]]);
      const [told] = (await watched(store, collection).next()) ?? [];

      if (told) Object.assign(told.fields, { v: 'changed' });

      expect(await store.query({ collection, limit: 1 })).toMatchObject([{ fields: { v: 1 } }]);
    });

    test('a watch of a path that is no collection is refused', async () => {
      await expect(watched(store, `${newCollection()}/x`).next()).rejects.toThrow(
        InvalidWriteError,
      );
    });
  });
}

function describeSlowReader(store: DocumentStore): void {
  const { seed } = queriesOf(store);

  describe('watch', () => {
    test('a watch loses no commit while its reader is busy', async () => {
      const collection = await seed([['a', { v: 0 }]]);
      const batches = watched(store, collection);
      await batches.next();

      for (const id of ['b', 'c', 'd']) await put(store, `${collection}/${id}`, {});

      const told = new Set<string>();
      while (told.size < 3) {
        for (const { path } of (await batches.next()) ?? []) told.add(path);
      }
      expect([...told]).toEqual(['b', 'c', 'd'].map((id) => `${collection}/${id}`));
    });

    test('a watch ends up with the newest state of a document that changed often', async () => {
      const collection = await seed([['a', { v: 0 }]]);
      const path = `${collection}/a`;
      const batches = watched(store, collection);
      await batches.next();

      for (let v = 1; v <= 5; v += 1) {
        await store.commit([{ op: 'update', path, fields: { v }, guard: EXISTS }]);
      }
      await put(store, `${collection}/last`, {});

      const states: unknown[] = [];
      for (let isLast = false; !isLast;) {
        const batch = (await batches.next()) ?? [];
        states.push(...batch.filter((told) => told.path === path).map(({ fields }) => fields.v));
        isLast = batch.length === 0 || batch.some((told) => told.path !== path);
      }
      expect(states.at(-1)).toBe(5);
    });

    test('a watch loses no commit made while it starts', async () => {
      const collection = newCollection();
      const batches = watched(store, collection);
      const path = `${collection}/early`;

      const [told] = await Promise.all([untilTold(batches, path), put(store, path, {})]);

      expect(told?.path).toBe(path);
    });
  });
}

function describeEndOfWatch(store: DocumentStore): void {
  describe('watch', () => {
    test('a watch ends when its signal fires while it waits', async () => {
      const batches = watched(store, newCollection());
      await batches.next();

      const waiting = batches.next();
      batches.stop();

      expect(await waiting).toBeUndefined();
    });

    test('a watch ends when its signal fired while the reader was busy', async () => {
      const collection = newCollection();
      const batches = watched(store, collection);
      await batches.next();

      await put(store, `${collection}/x`, {});
      batches.stop();

      expect(await batches.next()).toBeUndefined();
    });

    test('a watch with a fired signal ends at once', async () => {
      const batches = watched(store, newCollection());
      batches.stop();

      expect(await batches.next()).toBeUndefined();
    });

    test('a watch removes its signal listener when the reader leaves', async () => {
      const { signal } = new AbortController();

      for await (const first of store.watch(newCollection(), signal)) {
        expect(first).toEqual([]);
        expect(getEventListeners(signal, 'abort')).toHaveLength(1);
        break;
      }

      expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    });
  });
}
