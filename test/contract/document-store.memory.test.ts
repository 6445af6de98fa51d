import { expect, test } from 'vitest';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { InvalidWriteError } from '#shared/lib/errors.ts';
import type { DocumentFields, Query, Value, Write } from '#shared/ports/ports.ts';
import { EXISTS, fieldsAt, newCollection, newPath, put, text } from './document-store-cases.ts';
import { watched } from './watched-collection.ts';
import { describeDocumentStore } from './document-store.suite.ts';

describeDocumentStore('in memory', () => createMemoryDocumentStore());

/* What every store refuses before it asks: the same code for all of them. */

const store = createMemoryDocumentStore();
const nested = (levels: number): Value => (levels === 0 ? 1 : { a: nested(levels - 1) });

test.each<[string, Value]>([
  ['an array in an array', [[1]]],
  ['half a surrogate pair', 'a\uD800b'],
  ['an invalid date', new Date(Number.NaN)],
  ['a date after the year 9999', new Date(Date.UTC(10_000, 0, 1))],
  ['a reserved name', { a: { __b__: 1 } }],
  ['a map 21 levels deep', nested(21)],
  ['one byte over the largest value', text(1_048_488)],
])('the store refuses the value %s, and the other writes of its commit', async (_name, value) => {
  const [path, other] = [newPath(), newPath()];

  const commit = store.commit([
    { op: 'create', path: other, fields: {} },
    { op: 'create', path, fields: { value } },
  ]);

  await expect(commit).rejects.toThrow(InvalidWriteError);
  expect(await store.get([path, other])).toEqual([undefined, undefined]);
});

test.each([
  ['an empty segment', 'things//parts/1'],
  ['a reserved id', 'things/__x__'],
  ['a reserved collection', '__things__/x'],
  ['the id .', 'things/.'],
  ['an id of 1,501 bytes', `things/${text(1_501)}`],
  ['half a surrogate pair', 'things/\uD800'],
  ['a collection', 'things'],
  ['nothing', ''],
])('the store refuses a path with %s', async (_name, path) => {
  await expect(put(store, path, {})).rejects.toThrow(InvalidWriteError);
  await expect(store.get([path])).rejects.toThrow(InvalidWriteError);
  await expect(store.deleteBelow(path)).rejects.toThrow(InvalidWriteError);
});

test('the store watches and sums no path of a document', async () => {
  await expect(watched(store, 'things/x').next()).rejects.toThrow(InvalidWriteError);
  await expect(store.sum('things/x', 'n')).rejects.toThrow(InvalidWriteError);
});

test.each<[string, DocumentFields, string[]]>([
  ['a field and a part of it', { a: {}, 'a.b': 1 }, []],
  ['a part set in a removed field', { 'a.b': 1 }, ['a']],
])('the store refuses an update of %s', async (_name, fields, remove) => {
  const path = newPath();
  await put(store, path, { a: 0 });

  const commit = store.commit([{ op: 'update', path, fields, remove, guard: EXISTS }]);

  await expect(commit).rejects.toThrow(InvalidWriteError);
});

test.each<[string, DocumentFields, string[]]>([
  ['sets', { 'm.a': 1 }, []],
  ['removes', {}, ['m.a']],
])('the store refuses a merge that %s a part of a field', async (_name, fields, remove) => {
  const path = newPath();
  await put(store, path, { m: { a: 0 } });

  const commit = store.commit([{ op: 'merge', path, fields, remove }]);

  await expect(commit).rejects.toThrow(InvalidWriteError);
  expect(await fieldsAt(store, path)).toEqual({ m: { a: 0 } });
});

test('the store refuses a document one byte over 1 MiB', async () => {
  const path = newPath();
  const frame = path.length + 1 + 16 + 32 + 2 * (2 + 1);
  const fields = { a: text(500_000), b: text(1_048_577 - frame - 500_000) };

  await expect(put(store, path, fields)).rejects.toThrow(InvalidWriteError);
});

const creating = (bytes: number) => (): Write => ({
  op: 'create',
  path: newPath(),
  fields: { a: text(bytes) },
});
const twice = newPath();
test.each<[string, Write[]]>([
  ['501 writes', Array.from({ length: 501 }, creating(1))],
  ['over 3.5 MiB', Array.from({ length: 4 }, creating(918_000))],
  [
    'two writes to one document',
    [
      { op: 'create', path: twice, fields: {} },
      { op: 'update', path: twice, fields: {}, guard: EXISTS },
    ],
  ],
])('the store refuses a commit of %s at once', async (_name, writes) => {
  await expect(store.commit(writes)).rejects.toThrow(InvalidWriteError);
});

test.each<[string, Omit<Query, 'collection'>]>([
  ['a limit of 0', { limit: 0 }],
  ['an inequality with null', { limit: 1, where: [{ field: 'v', op: '>', value: null }] }],
  [
    'an inequality on another field than the order',
    {
      limit: 1,
      where: [{ field: 'v', op: '>', value: 1 }],
      orderBy: { field: 'w', direction: 'asc' },
    },
  ],
])('the store refuses a query with %s', async (_name, query) => {
  const refused = store.query({ ...query, collection: newCollection() });

  await expect(refused).rejects.toThrow(RangeError);
});

/* What only the store in memory could do wrong, and its hooks. */

test('a reader that changes a document of the memory store does not change the store', async () => {
  const collection = newCollection();
  const path = `${collection}/a`;
  await put(store, path, { list: [{ a: 1 }], at: new Date(5) });

  const [[read], [queried], [told] = []] = [
    await store.get([path]),
    await store.query({ collection, limit: 1 }),
    await watched(store, collection).next(),
  ];
  for (const document of [read, queried, told]) {
    const { list, at } = document?.fields ?? {};
    if (Array.isArray(list)) list.push('more');
    if (at instanceof Date) at.setTime(9);
    Object.assign(document?.fields ?? {}, { more: 1 });
  }

  expect(await fieldsAt(store, path)).toEqual({ list: [{ a: 1 }], at: new Date(5) });
});
