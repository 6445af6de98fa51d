import { describe, expect, test } from 'vitest';
import type { DocumentStore, Query } from '#shared/ports/ports.ts';
import {
  byValue,
  fieldsAt,
  newCollection,
  put,
  queriesOf,
} from '#test/support/stores/document-store-cases.ts';

export function describeQueries(store: DocumentStore): void {
  const { seed, ids } = queriesOf(store);

  describe('query', () => {
    test('a query returns whole documents with their update times', async () => {
      const collection = newCollection();
      const updateTime = await put(store, `${collection}/x`, { m: { at: new Date(5) } });

      const found = await store.query({ collection, limit: 1 });

      expect(found).toEqual([
        { path: `${collection}/x`, fields: { m: { at: new Date(5) } }, updateTime },
      ]);
    });

    test('a query of an empty collection finds nothing', async () => {
      expect(await ids({ collection: newCollection() })).toEqual([]);
    });

    test('a query does not see collections below or beside its own', async () => {
      const collection = await seed([['x', {}]]);
      await put(store, `${collection}/x/parts/y`, {});
      await put(store, `${collection}2/z`, {});

      expect(await ids({ collection })).toEqual(['x']);
    });

    test('a sum counts the numbers of one collection, and nothing else', async () => {
      const collection = await seed([
        ['x', { n: 2 }],
        ['y', { n: 0.5 }],
        ['z', { n: 'three' }],
        ['other', { m: 4 }],
      ]);
      await put(store, `${collection}/x/parts/y`, { n: 100 });

      expect(await store.sum(collection, 'n')).toBe(2.5);
      expect(await store.sum(newCollection(), 'n')).toBe(0);
    });

    test('changing a query’s result does not change the store', async () => {
      const collection = await seed([['a', { m: { list: [1] } }]]);
      const [found] = await store.query({ collection, limit: 1 });

      if (found) found.fields = Object.assign(found.fields, { m: 'changed' });

      expect(await fieldsAt(store, `${collection}/a`)).toEqual({ m: { list: [1] } });
    });

    test.each<[string, Omit<Query, 'collection'>]>([
      ['a limit of 0', { limit: 0 }],
      ['an inequality with null', { limit: 1, where: [{ field: 'v', op: '>', value: null }] }],
      [
        'an inequality on another field than the order',
        {
          limit: 1,
          where: [{ field: 'v', op: '>', value: 1 }],
          orderBy: { ...byValue, field: 'w' },
        },
      ],
      ['a start outside the collection', { limit: 1, startAfter: { path: 'other/x' } }],
    ])('a query refuses %s', async (_name, query) => {
      const refused = store.query({ ...query, collection: newCollection() });

      await expect(refused).rejects.toThrow(RangeError);
    });
  });
}
