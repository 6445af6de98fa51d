import { expect, test } from 'vitest';
import {
  createMemoryDocumentStore,
  type StoreOperation,
} from '#infra/local/embedded/memory-document-store.ts';
import { InvalidWriteError, StoreUnavailableError } from '#shared/errors.ts';
import type { DocumentFields, DocumentStore, Query, Value, Write } from '#shared/ports/ports.ts';
import {
  EXISTS,
  fieldsAt,
  newCollection,
  newPath,
  put,
  text,
} from '#test/support/stores/document-store-cases.ts';
import { watched } from '#test/support/stores/watched-collection.ts';
import { describeDocumentStore } from './document-store.suite.ts';

describeDocumentStore('in memory', () => createMemoryDocumentStore());

/* What every store refuses before it asks: the same code for all of them. */

const store = createMemoryDocumentStore();
const nested = (levels: number): Value => (levels === 0 ? 1 : { a: nested(levels - 1) });

test.each<[string, Value]>([
  ['an array in an array', [[1]]],
  ['an array in an array, deeper', { a: [{ b: [[1]] }] }],
  ['half a surrogate pair', 'a\uD800b'],
  ['half a surrogate pair at the end', { a: 'b\uDC00' }],
  ['an invalid date', new Date(Number.NaN)],
  ['a date after the year 9999', new Date(Date.UTC(10_000, 0, 1))],
  ['a reserved name', { a: { __b__: 1 } }],
  ['an empty name', { a: { '': 1 } }],
  ['a name of 1,501 bytes', { [text(1_501)]: 1 }],
  ['a map 21 levels deep', nested(21)],
  ['one byte over the largest value', text(1_048_488)],
  ['fewer characters than the largest value, but more bytes', '€'.repeat(349_496)],
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
  ['the id ..', 'things/..'],
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
  ['a field both set and removed', { a: 1 }, ['a']],
  ['an empty name on a path', { 'a..b': 1 }, []],
  ['a reserved name on a path', { 'a.__b__': 1 }, []],
])('the store refuses an update of %s', async (_name, fields, remove) => {
  const path = newPath();
  await put(store, path, { a: 0 });

  const commit = store.commit([{ op: 'update', path, fields, remove, guard: EXISTS }]);

  await expect(commit).rejects.toThrow(InvalidWriteError);
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
  ['a start outside the collection', { limit: 1, startAfter: { path: 'other/x' } }],
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

const PATH = 'things/x';

async function seedParts(seeded: DocumentStore): Promise<void> {
  const paths = Array.from({ length: 250 }, (_, index) => `${PATH}/parts/${index}`);
  await seeded.commit(paths.map((path) => ({ op: 'create', path, fields: {} })));
}

const countParts = async (counted: DocumentStore): Promise<number> =>
  (await counted.query({ collection: `${PATH}/parts`, limit: 1_000 })).length;

/** A store whose deletion calls `atBatch` with 1, 2, … before each batch. */
function storeThat(atBatch: (batch: number) => void): DocumentStore {
  let batches = 0;
  return createMemoryDocumentStore({
    beforeOperation: async (operation: StoreOperation) => {
      if (operation.name !== 'deleteBelow') return;
      batches += 1;
      atBatch(batches);
    },
  });
}

test('the memory store’s hook runs before each hundred documents of a deletion, which can be repeated', async () => {
  const hooked = storeThat((batch) => {
    if (batch === 3) throw new StoreUnavailableError({ operation: 'deleteBelow' });
  });
  await seedParts(hooked);

  await expect(hooked.deleteBelow(PATH)).rejects.toThrow(StoreUnavailableError);

  expect(await countParts(hooked)).toBe(50);
  expect(await hooked.deleteBelow(PATH)).toBe(50);
});

test('the memory store’s hook runs once before the first documents of a watch', async () => {
  const operations: string[] = [];
  const hooked = createMemoryDocumentStore({
    beforeOperation: async ({ name }) => void operations.push(name),
  });
  const batches = watched(hooked, 'things');

  await batches.next();
  await put(hooked, PATH, {});
  await batches.next();

  expect(operations).toEqual(['watch', 'commit']);
});
