import { describe, expect, test } from 'vitest';
import type { DocumentStore, Query, Value } from '#shared/ports/ports.ts';
import { IN_ORDER, numbered, queriesOf } from '#test/support/stores/document-store-cases.ts';

export function describeQueryFilters(store: DocumentStore): void {
  const { seed, ids } = queriesOf(store);

  describe('query', () => {
    test.each<[NonNullable<Query['where']>, string[]]>([
      [[{ field: 'v', op: '==', value: 2 }], ['c', 'd']],
      [[{ field: 'v', op: '<', value: 2 }], ['b']],
      [[{ field: 'v', op: '<=', value: 2 }], ['b', 'c', 'd']],
      [[{ field: 'v', op: '>', value: 2 }], ['a']],
      [[{ field: 'v', op: '>=', value: 2 }], ['c', 'd', 'a']],
      [
        [
          { field: 'v', op: '>', value: 1 },
          { field: 'v', op: '<', value: 3 },
        ],
        ['c', 'd'],
      ],
      [
        [
          { field: 'state', op: '==', value: 'live' },
          { field: 'v', op: '>=', value: 2 },
        ],
        ['d', 'a'],
      ],
      [[{ field: 'state', op: '==', value: 'live' }], ['a', 'b', 'd', 'e']],
    ])('a query where %j finds %j', async (where, expected) => {
      const collection = await seed(numbered);

      expect(await ids({ collection, where })).toEqual(expected);
    });

    test.each<[string, '==' | '<=' | '>=', Value, string[]]>([
      ['null', '==', null, ['null']],
      ['NaN', '==', Number.NaN, ['nan']],
      ['a list', '==', [1], ['list']],
      ['a map', '==', { a: 1 }, ['map']],
      ['a date', '==', new Date(5), ['date-early']],
      ['numbers only, without NaN', '<=', 1, ['minus-infinity', 'minus', 'one']],
      ['dates only', '<=', new Date(9_999), ['date-early', 'date-late']],
      ['texts only', '<=', 'a', ['text-empty', 'text-upper', 'text-lower']],
      ['booleans only', '>=', false, ['false', 'true']],
    ])('a query compares with %s', async (...[, op, value, expected]) => {
      const collection = await seed(IN_ORDER.map(([id, v]) => [id, { v }]));

      expect(await ids({ collection, where: [{ field: 'v', op, value }] })).toEqual(expected);
    });

    test('a query treats 0 and -0 as equal', async () => {
      const collection = await seed([
        ['a', { v: -0 }],
        ['b', { v: 0 }],
      ]);

      expect(await ids({ collection, where: [{ field: 'v', op: '==', value: 0 }] })).toEqual([
        'a',
        'b',
      ]);
    });

    test('a query reaches into maps by dotted paths', async () => {
      const collection = await seed([
        ['a', { need: { since: new Date(2) } }],
        ['b', { need: { since: new Date(1) } }],
        ['c', { need: 'text' }],
      ]);
      const field = 'need.since';

      const found = await ids({
        collection,
        where: [{ field, op: '<', value: new Date(3) }],
        orderBy: { field, direction: 'desc' },
      });

      expect(found).toEqual(['a', 'b']);
    });
  });
}
