import { describe, expect, test } from 'vitest';
import type { DocumentStore } from '#shared/ports/ports.ts';
import {
  IN_ORDER,
  byValue,
  numbered,
  queriesOf,
} from '#test/support/stores/document-store-cases.ts';

export function describeQueryOrder(store: DocumentStore): void {
  const { seed, ids } = queriesOf(store);

  describe('query', () => {
    test('a query without order sorts by document id in UTF-8 order', async () => {
      const names = ['b', '10', '😀', 'B', '2', '\uFFEE', 'a'];
      const collection = await seed(names.map((id) => [id, {}]));

      expect(await ids({ collection })).toEqual(['10', '2', 'B', 'a', 'b', '\uFFEE', '😀']);
    });

    test('a query orders values of every type as Firestore does', async () => {
      const shuffled = IN_ORDER.toSorted(([a], [b]) => (a < b ? -1 : 1));
      const collection = await seed(shuffled.map(([id, v]) => [id, { v }]));

      expect(await ids({ collection, orderBy: byValue })).toEqual(IN_ORDER.map(([id]) => id));
    });

    test('a query orders descending as the exact reverse', async () => {
      const collection = await seed(IN_ORDER.map(([id, v]) => [id, { v }]));

      const found = await ids({ collection, orderBy: { field: 'v', direction: 'desc' } });

      expect(found).toEqual(IN_ORDER.map(([id]) => id).toReversed());
    });

    test.each([
      ['asc', ['b', 'c', 'd', 'a']],
      ['desc', ['a', 'd', 'c', 'b']],
    ] as const)(
      'a query breaks ties by id, %s, and leaves out missing fields',
      async (direction, order) => {
        const collection = await seed(numbered);

        expect(await ids({ collection, orderBy: { field: 'v', direction } })).toEqual(order);
      },
    );
  });
}
