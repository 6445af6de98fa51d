import { describe, expect, test } from 'vitest';
import type { DocumentStore, Query } from '#shared/ports/ports.ts';
import { byValue, numbered, queriesOf } from '#test/support/stores/document-store-cases.ts';

export function describeQueryPages(store: DocumentStore): void {
  const { seed, ids } = queriesOf(store);

  describe('query', () => {
    test('a query stops at its limit', async () => {
      const collection = await seed(numbered);

      expect(await ids({ collection, limit: 2 })).toEqual(['a', 'b']);
    });

    test('a query ordered by id continues after a document', async () => {
      const collection = await seed(numbered);

      expect(await ids({ collection, limit: 2, startAfter: { path: `${collection}/b` } })).toEqual([
        'c',
        'd',
      ]);
    });

    test.each(['asc', 'desc'] as const)(
      'a query pages one by one through ties and types, %s, without gap or repeat',
      async (direction) => {
        const collection = await seed([...numbered, ['f', { v: 'text' }], ['g', { v: null }]]);
        const orderBy = { field: 'v', direction } as const;
        const whole = await store.query({ collection, orderBy, limit: 100 });

        const paged: string[] = [];
        let startAfter: Query['startAfter'];
        for (;;) {
          const [next] = await store.query({
            collection,
            orderBy,
            limit: 1,
            ...(startAfter && { startAfter }),
          });
          if (next === undefined) break;
          paged.push(next.path);
          startAfter = { path: next.path, value: next.fields.v };
        }

        expect(paged).toEqual(whole.map(({ path }) => path));
        expect(paged).toHaveLength(6);
      },
    );

    test('a query continues after a document that was deleted', async () => {
      const collection = await seed(numbered);
      const startAfter = { path: `${collection}/bb`, value: 1 };

      expect(await ids({ collection, orderBy: byValue, startAfter })).toEqual(['c', 'd', 'a']);
    });
  });
}
