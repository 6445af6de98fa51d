import { afterAll, expect, test } from 'vitest';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { compareUpdateTimes } from '#shared/store/update-time.ts';
import { EXISTS, newCollection, put, queriesOf } from './document-store-cases.ts';
import { watched } from './watched-collection.ts';

type Watch = (
  collection: string,
  since?: { field: string; value: Date },
) => ReturnType<typeof watched>;

export function describeWatch(store: DocumentStore): void {
  const watches: ReturnType<Watch>[] = [];
  afterAll(() => watches.forEach((batches) => batches.stop()));
  const watch: Watch = (collection, since) => {
    const batches = watched(store, collection, since);
    watches.push(batches);
    return batches;
  };
  describeWatchedDocuments(store, watch);
  describeWatchSince(store, watch);
  describeEndOfWatch(store, watch);
}

function describeWatchedDocuments(store: DocumentStore, watch: Watch): void {
  const { seed } = queriesOf(store);

  test('a watch begins with the existing documents in the order of their ids', async () => {
    const ids = ['b', '10', '😀', 'B', '2', '\uFFEE', 'a'];
    const collection = await seed(ids.map((id) => [id, {}]));

    const first = await watch(collection).next();

    const order = ['10', '2', 'B', 'a', 'b', '\uFFEE', '😀'];
    expect(first?.map(({ path }) => path)).toEqual(order.map((id) => `${collection}/${id}`));
  });

  test('a watch reports documents that are created, updated, or created again after a deletion', async () => {
    const collection = newCollection();
    const path = `${collection}/a`;
    const batches = watch(collection);
    const empty = await batches.next();

    const createTime = await put(store, path, { v: 1, at: new Date(5) });
    const created = await batches.next();
    const [updateTime] = await store.commit([
      { op: 'update', path, fields: { v: 2 }, guard: EXISTS },
    ]);
    const updated = await batches.next();
    await store.commit([{ op: 'delete', path }]);
    await put(store, path, { v: 3 });
    const again = await batches.next();

    expect(empty).toEqual([]);
    expect(created).toEqual([{ path, fields: { v: 1, at: new Date(5) }, updateTime: createTime }]);
    expect(updated).toEqual([{ path, fields: { v: 2, at: new Date(5) }, updateTime }]);
    expect(again).toMatchObject([{ path, fields: { v: 3 } }]);
  });

  test('a watch loses no commit while its reader is busy, and ends up with the newest state', async () => {
    const collection = await seed([['a', { v: 0 }]]);
    const path = `${collection}/a`;
    const batches = watch(collection);
    await batches.next();

    for (let v = 1; v <= 5; v += 1)
      await store.commit([{ op: 'update', path, fields: { v }, guard: EXISTS }]);
    for (const id of ['b', 'c', 'd']) await put(store, `${collection}/${id}`, {});

    const states = new Map<string, unknown>();
    while (!states.has(`${collection}/d`)) {
      for (const told of (await batches.next()) ?? []) states.set(told.path, told.fields.v);
    }
    expect([...states.keys()].toSorted()).toEqual(
      ['a', 'b', 'c', 'd'].map((id) => `${collection}/${id}`),
    );
    expect(states.get(path)).toBe(5);
  });
}

function describeWatchSince(store: DocumentStore, watch: Watch): void {
  const { seed } = queriesOf(store);
  const at = (time: number) => ({ at: new Date(time) });
  const since = { field: 'at', value: new Date(5) };

  test('a watch since a time begins with the documents of that time or later, and with no others', async () => {
    const collection = await seed([
      ['before', at(4)],
      ['then', at(5)],
      ['after', at(6)],
      ['without', {}],
      ['text', { at: 'text' }],
    ]);

    const first = await watch(collection, since).next();

    expect(first?.map(({ path }) => path).toSorted()).toEqual(
      ['after', 'then'].map((id) => `${collection}/${id}`),
    );
  });

  test('a watch since a time reports documents that are created or come to that time, and no others', async () => {
    const collection = await seed([['a', at(4)]]);
    const batches = watch(collection, since);
    const empty = await batches.next();

    await put(store, `${collection}/b`, at(4));
    await put(store, `${collection}/c`, at(5));
    const created = await batches.next();
    await store.commit([{ op: 'update', path: `${collection}/a`, fields: at(6), guard: EXISTS }]);
    const updated = await batches.next();

    expect(empty).toEqual([]);
    expect(created).toMatchObject([{ path: `${collection}/c`, fields: at(5) }]);
    expect(updated).toMatchObject([{ path: `${collection}/a`, fields: at(6) }]);
  });

  test('update times of watched documents order them as their commits were', async () => {
    const collection = newCollection();
    const batches = watch(collection, since);
    await batches.next();
    const ids = ['c', 'a', 'b', 'a'];

    const times: string[] = [];
    for (const [index, id] of ids.entries()) {
      const write = { op: 'merge', path: `${collection}/${id}`, fields: at(10 + index) } as const;
      times.push(...(await store.commit([write])));
    }

    const told = new Map<string, string>();
    while (told.get(`${collection}/a`) !== times[3])
      for (const { path, updateTime } of (await batches.next()) ?? []) told.set(path, updateTime);
    expect([...times].toReversed().toSorted(compareUpdateTimes)).toEqual(times);
    expect([...told].toSorted(([, a], [, b]) => compareUpdateTimes(a, b))).toEqual(
      [
        ['c', times[0]],
        ['b', times[2]],
        ['a', times[3]],
      ].map(([id, time]) => [`${collection}/${id}`, time]),
    );
  });
}

function describeEndOfWatch(store: DocumentStore, watch: Watch): void {
  test('a watch ends when its signal fires while it waits', async () => {
    const batches = watch(newCollection());
    await batches.next();

    const waiting = batches.next();
    batches.stop();

    expect(await waiting).toBeUndefined();
  });

  test('a watch ends when its signal fired while the reader was busy, or before', async () => {
    const collection = newCollection();
    const [batches, stopped] = [watch(collection), watch(collection)];
    stopped.stop();
    await batches.next();

    await put(store, `${collection}/x`, {});
    batches.stop();

    expect(await batches.next()).toBeUndefined();
    expect(await stopped.next()).toBeUndefined();
  });
}
