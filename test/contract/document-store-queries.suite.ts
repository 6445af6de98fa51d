import { expect, test } from 'vitest';
import type { DocumentFields, DocumentStore, Query } from '#shared/ports/ports.ts';
import { newCollection, put, queriesOf } from './document-store-cases.ts';

/** Documents with a tie, another state and a missing field. */
const numbered: [string, DocumentFields][] = [
  ['a', { v: 3, state: 'live' }],
  ['b', { v: 1, state: 'live' }],
  ['c', { v: 2, state: 'gone' }],
  ['d', { v: 2, state: 'live' }],
  ['e', { state: 'live' }],
];

export function describeQueries(store: DocumentStore): void {
  describeFinding(store);
  describeOrderAndPages(store);
}

function describeFinding(store: DocumentStore): void {
  const { seed, find } = queriesOf(store);

  test('a query returns the whole documents of its collection, and none below or beside it', async () => {
    const collection = newCollection();
    const updateTime = await put(store, `${collection}/x`, { m: { at: new Date(5) } });
    await put(store, `${collection}/x/parts/y`, {});
    await put(store, `${collection}2/z`, {});

    expect(await store.query({ collection, limit: 9 })).toEqual([
      { path: `${collection}/x`, fields: { m: { at: new Date(5) } }, updateTime },
    ]);
    expect(await store.query({ collection: newCollection(), limit: 9 })).toEqual([]);
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
  ])('a query where %j finds %j', async (where, expected) => {
    const collection = await seed(numbered);

    expect(await find({ collection, where })).toEqual(expected);
  });

  test('a query pages through dates two maps deep, and skips documents without one', async () => {
    const collection = await seed([
      ['a', { requests: { auto: { since: new Date(2_000) } } }],
      ['b', { requests: { auto: { since: new Date(1_000) } } }],
      ['c', { requests: { auto: { since: new Date(1_000) } } }],
      ['d', { requests: { manual: { since: new Date(1) } } }],
      ['e', { requests: { auto: { since: new Date(9_000) } } }],
      ['f', { requests: 'text' }],
    ]);
    const field = 'requests.auto.since';
    const query = {
      collection,
      where: [{ field, op: '<', value: new Date(5_000) }],
      orderBy: { field, direction: 'asc' },
      limit: 2,
    } as const;

    expect(await find(query)).toEqual(['b', 'c']);
    const startAfter = { path: `${collection}/c`, value: new Date(1_000) };
    expect(await find({ ...query, startAfter })).toEqual(['a']);
  });
}

function describeOrderAndPages(store: DocumentStore): void {
  const { seed, find } = queriesOf(store);

  test('a query without order sorts by document id in UTF-8 order, page by page', async () => {
    const names = ['b', '10', '😀', 'B', '2', '\uFFEE', 'a'];
    const collection = await seed(names.map((id) => [id, {}]));
    const sorted = ['10', '2', 'B', 'a', 'b', '\uFFEE', '😀'];

    expect(await find({ collection, limit: 3 })).toEqual(sorted.slice(0, 3));
    expect(await find({ collection, startAfter: { path: `${collection}/B` } })).toEqual(
      sorted.slice(3),
    );
  });

  test.each([
    ['asc', ['g', 'b', 'c', 'd', 'a', 'f']],
    ['desc', ['f', 'a', 'd', 'c', 'b', 'g']],
  ] as const)(
    'a query pages through ties and types without gap or repeat, %s, and leaves out missing fields',
    async (direction, order) => {
      const collection = await seed([...numbered, ['f', { v: 'text' }], ['g', { v: null }]]);
      const orderBy = { field: 'v', direction } as const;

      const paged: string[] = [];
      let startAfter: Query['startAfter'];
      for (;;) {
        const query = { collection, orderBy, limit: 1, ...(startAfter && { startAfter }) };
        const [next] = await store.query(query);
        if (next === undefined) break;
        paged.push(next.path);
        startAfter = { path: next.path, value: next.fields.v };
      }

      expect(paged).toEqual(order.map((id) => `${collection}/${id}`));
    },
  );

  test('a query continues after a document that was deleted', async () => {
    const collection = await seed(numbered);
    const orderBy = { field: 'v', direction: 'asc' } as const;
    const startAfter = { path: `${collection}/bb`, value: 1 };

    expect(await find({ collection, orderBy, startAfter })).toEqual(['c', 'd', 'a']);
  });
}
