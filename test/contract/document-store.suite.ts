import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { GuardLostError, InvalidWriteError, StoreUnavailableError } from '../../shared/errors.ts';
import type { DocumentFields, DocumentStore, Query, Value, Write } from '../../shared/ports.ts';

const EXISTS = { exists: true } as const;
/** Firestore's largest value, in bytes of UTF-8. */
const MAX_VALUE_BYTES = 1_048_487;

/**
 * What every DocumentStore does, run on each implementation. `create` is called once: the tests share the
 * store and keep apart by their own collections.
 */
export function describeDocumentStore(name: string, create: () => DocumentStore): void {
  describe(`document store: ${name}`, () => {
    const store = create();
    describeReads(store);
    describeGuards(store);
    describeCommits(store);
    describeUpdates(store);
    describeValues(store);
    describeLimits(store);
    describeQueries(store);
    describeRaces(store);
    describeLostReplies(store);
  });
}

function newPath(): string {
  return `things/${randomUUID()}`;
}

function newCollection(): string {
  return `${newPath()}/parts`;
}

async function put(store: DocumentStore, path: string, fields: DocumentFields): Promise<string> {
  const [updateTime = ''] = await store.commit([{ op: 'create', path, fields }]);
  return updateTime;
}

async function fieldsAt(store: DocumentStore, path: string): Promise<DocumentFields | undefined> {
  const [document] = await store.get([path]);
  return document?.fields;
}

async function timeAt(store: DocumentStore, path: string): Promise<string | undefined> {
  const [document] = await store.get([path]);
  return document?.updateTime;
}

function text(bytes: number): string {
  return 'x'.repeat(bytes);
}

function describeReads(store: DocumentStore): void {
  describe('get', () => {
    test('gives the documents in the order asked for, undefined for missing ones', async () => {
      const [a, b] = [newPath(), newPath()];
      await store.commit([
        { op: 'create', path: a, fields: { at: 'a' } },
        { op: 'create', path: b, fields: { at: 'b' } },
      ]);

      const found = await store.get([b, newPath(), a, b]);

      expect(found.map((document) => document?.fields)).toEqual([
        { at: 'b' },
        undefined,
        { at: 'a' },
        { at: 'b' },
      ]);
      expect(found[0]?.path).toBe(b);
    });

    test('of no paths gives nothing', async () => {
      expect(await store.get([])).toEqual([]);
    });

    test('gives the update time that the commit returned', async () => {
      const path = newPath();

      const updateTime = await put(store, path, { a: 1 });

      expect(updateTime).not.toBe('');
      expect(await timeAt(store, path)).toBe(updateTime);
    });

    test('finds nothing at the parent of a document', async () => {
      const parent = newPath();
      await put(store, `${parent}/parts/1`, { a: 1 });

      expect(await store.get([parent])).toEqual([undefined]);
    });

    test('refuses the path of a collection', async () => {
      await expect(store.get(['things'])).rejects.toThrow(InvalidWriteError);
    });
  });
}

function describeGuards(store: DocumentStore): void {
  describe('guards', () => {
    test('create loses against an existing document, which stays', async () => {
      const path = newPath();
      await put(store, path, { by: 'first' });

      await expect(put(store, path, { by: 'second' })).rejects.toThrow(GuardLostError);

      expect(await fieldsAt(store, path)).toEqual({ by: 'first' });
    });

    test('create works again after a delete, with another update time', async () => {
      const path = newPath();
      const first = await put(store, path, { a: 1 });
      await store.commit([{ op: 'delete', path }]);

      const second = await put(store, path, { a: 1 });

      expect(second).not.toBe(first);
    });

    test('update by the update time read changes the document', async () => {
      const path = newPath();
      const updateTime = await put(store, path, { a: 1, b: 1 });

      const [next] = await store.commit([
        { op: 'update', path, fields: { a: 2 }, guard: { updateTime } },
      ]);

      expect(await fieldsAt(store, path)).toEqual({ a: 2, b: 1 });
      expect(next).not.toBe(updateTime);
    });

    test('update by an old update time loses', async () => {
      const path = newPath();
      const updateTime = await put(store, path, { a: 1 });
      await store.commit([{ op: 'update', path, fields: { a: 2 }, guard: EXISTS }]);

      const late = store.commit([{ op: 'update', path, fields: { a: 3 }, guard: { updateTime } }]);

      await expect(late).rejects.toThrow(GuardLostError);
      expect(await fieldsAt(store, path)).toEqual({ a: 2 });
    });

    test.each(['', '0.0', 'yesterday'])(
      'update by the time %j, never given, loses',
      async (never) => {
        const path = newPath();
        await put(store, path, { a: 1 });
        const guard = { updateTime: never };

        const late = store.commit([{ op: 'update', path, fields: { a: 3 }, guard }]);

        await expect(late).rejects.toThrow(GuardLostError);
      },
    );

    test('update by the time of a deleted document that was created again loses', async () => {
      const path = newPath();
      const updateTime = await put(store, path, { a: 1 });
      await store.commit([{ op: 'delete', path }]);
      await put(store, path, { a: 1 });

      const late = store.commit([{ op: 'update', path, fields: { a: 3 }, guard: { updateTime } }]);

      await expect(late).rejects.toThrow(GuardLostError);
    });

    test.each([
      ['update by existence', 'update', false],
      ['update by update time', 'update', true],
      ['delete by existence', 'delete', false],
      ['delete by update time', 'delete', true],
    ] as const)('%s loses on a missing document', async (_name, op, isTimed) => {
      const path = newPath();
      const other = await put(store, newPath(), { a: 1 });
      const guard = isTimed ? { updateTime: other } : EXISTS;
      const write: Write =
        op === 'update' ? { op, path, fields: { a: 1 }, guard } : { op, path, guard };

      await expect(store.commit([write])).rejects.toThrow(GuardLostError);

      expect(await fieldsAt(store, path)).toBeUndefined();
    });

    test('delete by the update time read removes the document', async () => {
      const path = newPath();
      const updateTime = await put(store, path, { a: 1 });

      const times = await store.commit([{ op: 'delete', path, guard: { updateTime } }]);

      expect(times).toEqual(['']);
      expect(await fieldsAt(store, path)).toBeUndefined();
    });

    test('delete by an old update time loses', async () => {
      const path = newPath();
      const updateTime = await put(store, path, { a: 1 });
      await store.commit([{ op: 'update', path, fields: { a: 2 }, guard: EXISTS }]);

      const late = store.commit([{ op: 'delete', path, guard: { updateTime } }]);

      await expect(late).rejects.toThrow(GuardLostError);
      expect(await fieldsAt(store, path)).toEqual({ a: 2 });
    });

    test('delete without a guard takes a missing document for done', async () => {
      expect(await store.commit([{ op: 'delete', path: newPath() }])).toEqual(['']);
    });

    test('an update without fields checks its guard and changes nothing', async () => {
      const path = newPath();
      const updateTime = await put(store, path, { a: 1 });
      const touch: Write = { op: 'update', path, fields: {}, guard: { updateTime } };

      expect(await store.commit([touch])).toEqual([updateTime]);

      await store.commit([{ op: 'update', path, fields: { a: 2 }, guard: EXISTS }]);
      await expect(store.commit([touch])).rejects.toThrow(GuardLostError);
    });
  });
}

function describeCommits(store: DocumentStore): void {
  describe('commit', () => {
    test('of no writes does nothing', async () => {
      expect(await store.commit([])).toEqual([]);
    });

    test('returns one update time for each write, in order', async () => {
      const [a, b, c] = [newPath(), newPath(), newPath()];
      await put(store, c, { a: 1 });

      const times = await store.commit([
        { op: 'create', path: a, fields: {} },
        { op: 'delete', path: c },
        { op: 'create', path: b, fields: {} },
      ]);

      expect(times).toEqual([await timeAt(store, a), '', await timeAt(store, b)]);
    });

    test.each([0, 1, 2])('applies nothing when the guard of write %i is lost', async (lost) => {
      const paths = [newPath(), newPath(), newPath()];
      await put(store, paths[lost] ?? '', { by: 'before' });

      const commit = store.commit(
        paths.map((path): Write => ({ op: 'create', path, fields: { by: 'commit' } })),
      );

      await expect(commit).rejects.toThrow(GuardLostError);
      const found = await store.get(paths);
      expect(found.map((document) => document?.fields)).toEqual(
        paths.map((_path, index) => (index === lost ? { by: 'before' } : undefined)),
      );
    });

    test('applies neither update nor delete beside a lost guard', async () => {
      const [a, b] = [newPath(), newPath()];
      await put(store, a, { n: 1 });
      await put(store, b, { n: 1 });

      const commit = store.commit([
        { op: 'update', path: a, fields: { n: 2 }, guard: EXISTS },
        { op: 'delete', path: b },
        { op: 'update', path: newPath(), fields: { n: 2 }, guard: EXISTS },
      ]);

      await expect(commit).rejects.toThrow(GuardLostError);
      expect([await fieldsAt(store, a), await fieldsAt(store, b)]).toEqual([{ n: 1 }, { n: 1 }]);
    });

    test('applies nothing beside a write that cannot be held', async () => {
      const path = newPath();

      const commit = store.commit([
        { op: 'create', path, fields: {} },
        { op: 'create', path: newPath(), fields: { '': 1 } },
      ]);

      await expect(commit).rejects.toThrow(InvalidWriteError);
      expect(await fieldsAt(store, path)).toBeUndefined();
    });

    test('sent twice fails on its own guard and changes nothing', async () => {
      const [head, turn] = [newPath(), newPath()];
      const updateTime = await put(store, head, { lastSeq: 0 });
      const writes: Write[] = [
        { op: 'update', path: head, fields: { lastSeq: 1 }, guard: { updateTime } },
        { op: 'create', path: turn, fields: { producer: 'p1' } },
      ];
      await store.commit(writes);
      const before = await store.get([head, turn]);

      await expect(store.commit(writes)).rejects.toThrow(GuardLostError);

      expect(await store.get([head, turn])).toEqual(before);
    });

    test('refuses to name a document twice', async () => {
      const path = newPath();

      const commit = store.commit([
        { op: 'create', path, fields: { a: 1 } },
        { op: 'update', path, fields: { a: 2 }, guard: EXISTS },
      ]);

      await expect(commit).rejects.toThrow(InvalidWriteError);
      expect(await fieldsAt(store, path)).toBeUndefined();
    });

    test('takes the values as they were when it was called', async () => {
      const path = newPath();
      const inner = { list: [1] };
      const commit = store.commit([{ op: 'create', path, fields: { inner } }]);

      inner.list.push(2);
      await commit;

      expect(await fieldsAt(store, path)).toEqual({ inner: { list: [1] } });
    });

    test('a change to what was read does not reach the store', async () => {
      const path = newPath();
      await put(store, path, { list: [{ a: 1 }], at: new Date(5) });
      const read = await fieldsAt(store, path);

      if (Array.isArray(read?.list)) read.list.push('more');
      if (read?.at instanceof Date) read.at.setTime(9);

      expect(await fieldsAt(store, path)).toEqual({ list: [{ a: 1 }], at: new Date(5) });
    });
  });
}

function describeUpdates(store: DocumentStore): void {
  interface UpdateCase {
    name: string;
    before: DocumentFields;
    fields?: DocumentFields;
    remove?: string[];
    after: DocumentFields;
  }
  const cases: UpdateCase[] = [
    {
      name: 'keeps fields that it does not name',
      before: { a: 1, b: 2 },
      fields: { b: 3 },
      after: { a: 1, b: 3 },
    },
    {
      name: 'replaces a map as a whole',
      before: { m: { a: 1, b: 2 } },
      fields: { m: { c: 3 } },
      after: { m: { c: 3 } },
    },
    {
      name: 'sets a field inside a map by a dotted path',
      before: { m: { a: 1, n: { b: 2 } } },
      fields: { 'm.n.c': 3 },
      after: { m: { a: 1, n: { b: 2, c: 3 } } },
    },
    {
      name: 'makes the maps on a dotted path',
      before: {},
      fields: { 'need.auto.since': new Date(7) },
      after: { need: { auto: { since: new Date(7) } } },
    },
    {
      name: 'puts a map in the place of a text on a dotted path',
      before: { a: 'text' },
      fields: { 'a.b': 1 },
      after: { a: { b: 1 } },
    },
    {
      name: 'removes a field',
      before: { a: 1, open: { seq: 1 } },
      remove: ['open'],
      after: { a: 1 },
    },
    {
      name: 'removes a field inside a map and leaves the map',
      before: { need: { auto: 1 } },
      remove: ['need.auto'],
      after: { need: {} },
    },
    {
      name: 'removes what is not there without effect',
      before: { a: 'text' },
      remove: ['b', 'c.d', 'a.b'],
      after: { a: 'text' },
    },
    {
      name: 'sets and removes different parts of one map',
      before: { m: { a: 1, b: 2 } },
      fields: { 'm.c': 3 },
      remove: ['m.a'],
      after: { m: { b: 2, c: 3 } },
    },
    {
      name: 'does not touch a field given as undefined',
      before: { a: 1 },
      fields: { a: undefined, b: 2 },
      after: { a: 1, b: 2 },
    },
    {
      name: 'replaces a list as a whole',
      before: { list: [1, 2] },
      fields: { list: [3] },
      after: { list: [3] },
    },
    {
      name: 'takes names with hyphens, spaces and accents in a dotted path',
      before: {},
      fields: { 'a-b.ü c./': 1 },
      after: { 'a-b': { 'ü c': { '/': 1 } } },
    },
  ];

  describe('update', () => {
    test.each(cases)('$name', async ({ before, fields = {}, remove = [], after }) => {
      const path = newPath();
      await put(store, path, before);

      await store.commit([{ op: 'update', path, fields, remove, guard: EXISTS }]);

      expect(await fieldsAt(store, path)).toStrictEqual(after);
    });

    test.each<[string, DocumentFields]>([
      ['the same number', { n: 1 }],
      ['NaN for NaN', { nan: Number.NaN }],
      ['the same map in another order', { m: { b: 2, a: 1 } }],
      ['the same date', { at: new Date(5) }],
      ['a part that is there', { 'm.a': 1 }],
    ])('that writes %s keeps the update time', async (_name, fields) => {
      const path = newPath();
      const updateTime = await put(store, path, {
        n: 1,
        nan: Number.NaN,
        m: { a: 1, b: 2 },
        at: new Date(5),
      });

      const times = await store.commit([{ op: 'update', path, fields, guard: { updateTime } }]);

      expect(times).toEqual([updateTime]);
      expect(await timeAt(store, path)).toBe(updateTime);
    });

    test('of 0 by -0 is a change', async () => {
      const path = newPath();
      const updateTime = await put(store, path, { n: 0 });

      const times = await store.commit([{ op: 'update', path, fields: { n: -0 }, guard: EXISTS }]);

      expect(times).not.toEqual([updateTime]);
    });

    test.each<[string, DocumentFields, string[]]>([
      ['a field and a part of it', { a: {}, 'a.b': 1 }, []],
      ['a part set in a removed field', { 'a.b': 1 }, ['a']],
      ['a field both set and removed', { a: 1 }, ['a']],
      ['an empty name on a path', { 'a..b': 1 }, []],
      ['a reserved name on a path', { 'a.__b__': 1 }, []],
    ])('refuses %s', async (_name, fields, remove) => {
      const path = newPath();
      await put(store, path, { a: 0 });

      const commit = store.commit([{ op: 'update', path, fields, remove, guard: EXISTS }]);

      await expect(commit).rejects.toThrow(InvalidWriteError);
    });
  });
}

function describeValues(store: DocumentStore): void {
  const values: [string, Value][] = [
    ['null', null],
    ['booleans', [true, false]],
    ['numbers', [0, 1, -1, 1.5, 1e300, Number.MAX_SAFE_INTEGER, 2 ** 60, Infinity, -Infinity]],
    ['NaN', Number.NaN],
    ['negative zero', -0],
    ['empty text, list and map', { text: '', list: [], map: {}, inList: [{}] }],
    ['text of every kind', 'aä€😀\u{10FFFF}\u0000\uFEFF\uFFFE\u200D\u202E\r\n'],
    ['accents composed and decomposed', ['\u00E9', 'e\u0301']],
    ['dates', [new Date(0), new Date(-1), new Date(1_795_261_744_977)]],
    [
      'the first and the last date',
      [new Date('0001-01-01T00:00:00.000Z'), new Date('9999-12-31T23:59:59.999Z')],
    ],
    ['lists in maps in lists', [{ list: [{ list: [1, 'a', null] }] }]],
    ['field names with dots, slashes and keywords', { 'a.b': 1, 'c/d': 2, constructor: 3, '`': 4 }],
  ];

  describe('values', () => {
    test.each(values)('%s come back as they went in', async (_name, value) => {
      const path = newPath();

      await put(store, path, { value });

      expect(await fieldsAt(store, path)).toStrictEqual({ value });
    });

    test('a field name with a dot is one name in create', async () => {
      const path = newPath();

      await put(store, path, { 'a.b': 1 });

      expect(await fieldsAt(store, path)).toEqual({ 'a.b': 1 });
    });

    test('undefined fields are left out at every level', async () => {
      const path = newPath();

      await put(store, path, { a: undefined, m: { b: undefined }, list: [{ c: undefined }] });

      expect(await fieldsAt(store, path)).toStrictEqual({ m: {}, list: [{}] });
    });

    test('a document can be empty', async () => {
      const path = newPath();

      await put(store, path, {});

      expect(await fieldsAt(store, path)).toEqual({});
    });

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
    ])('refuses %s', async (_name, value) => {
      const path = newPath();

      await expect(put(store, path, { value })).rejects.toThrow(InvalidWriteError);

      expect(await fieldsAt(store, path)).toBeUndefined();
    });

    test('takes a map 20 levels deep', async () => {
      const path = newPath();

      await put(store, path, { value: nested(20) });

      expect(await fieldsAt(store, path)).toEqual({ value: nested(20) });
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
    ])('refuses a path with %s', async (_name, path) => {
      await expect(put(store, path, {})).rejects.toThrow(InvalidWriteError);
    });

    test('takes an id with every kind of character', async () => {
      const path = `${newPath()}-😀 ä.%20\n__`;

      await put(store, path, { a: 1 });

      const [found] = await store.get([path]);
      expect(found).toMatchObject({ path, fields: { a: 1 } });
    });
  });
}

function nested(levels: number): Value {
  return levels === 0 ? 1 : { a: nested(levels - 1) };
}

function describeLimits(store: DocumentStore): void {
  /** A document of exactly this size: two fields, so that neither is too large. */
  function fieldsOf(path: string, bytes: number): DocumentFields {
    const frame = path.length + 1 + 16 + 32 + 2 * (2 + 1);
    return { a: text(500_000), b: text(bytes - frame - 500_000) };
  }

  describe('limits', () => {
    test('takes a value of 1,048,487 bytes', async () => {
      const path = 'things/largest-value';
      await store.commit([{ op: 'delete', path }]);

      await put(store, path, { a: text(MAX_VALUE_BYTES) });

      expect(await fieldsAt(store, path)).toEqual({ a: text(MAX_VALUE_BYTES) });
    });

    test.each([
      ['one byte more', text(MAX_VALUE_BYTES + 1)],
      ['fewer characters, more bytes', '€'.repeat(Math.ceil((MAX_VALUE_BYTES + 1) / 3))],
    ])('refuses a value of %s', async (_name, value) => {
      await expect(put(store, newPath(), { a: value })).rejects.toThrow(InvalidWriteError);
    });

    test('takes a document of exactly 1 MiB', async () => {
      const path = newPath();
      const fields = fieldsOf(path, 1_048_576);

      await put(store, path, fields);

      expect(await fieldsAt(store, path)).toEqual(fields);
    });

    test('refuses a document one byte over 1 MiB', async () => {
      const path = newPath();

      const created = put(store, path, fieldsOf(path, 1_048_577));

      await expect(created).rejects.toThrow(InvalidWriteError);
    });

    test('refuses an update that would make a document larger than 1 MiB', async () => {
      const path = newPath();
      const fields = fieldsOf(path, 1_048_576);
      await put(store, path, fields);

      const grown = store.commit([{ op: 'update', path, fields: { c: 'more' }, guard: EXISTS }]);

      await expect(grown).rejects.toThrow(InvalidWriteError);
      expect(await fieldsAt(store, path)).toEqual(fields);
    });

    test('takes 500 writes, refuses 501', async () => {
      const collection = newCollection();
      const writes = Array.from({ length: 501 }, (_item, index): Write => ({
        op: 'create',
        path: `${collection}/${index}`,
        fields: {},
      }));

      await expect(store.commit(writes)).rejects.toThrow(InvalidWriteError);

      expect(await store.commit(writes.slice(0, 500))).toHaveLength(500);
    });

    test('takes a commit a little below 3.5 MiB', async () => {
      const writes = [0, 1, 2, 3].map((): Write => ({
        op: 'create',
        path: newPath(),
        fields: { a: text(917_000) },
      }));

      expect(await store.commit(writes)).toHaveLength(4);
    });

    test('refuses a commit over 3.5 MiB at once', async () => {
      const writes = [0, 1, 2, 3].map((): Write => ({
        op: 'create',
        path: newPath(),
        fields: { a: text(918_000) },
      }));

      await expect(store.commit(writes)).rejects.toThrow(InvalidWriteError);
    });

    test('takes two documents of 40,000 small values', async () => {
      const list = Array.from({ length: 20_000 }, (_item, index) => ({ n: index }));
      const writes = [0, 1].map((): Write => ({ op: 'create', path: newPath(), fields: { list } }));

      expect(await store.commit(writes)).toHaveLength(2);
    });
  });
}

/** Every kind of value in Firestore's order. */
const IN_ORDER: readonly [string, Value][] = [
  ['null', null],
  ['false', false],
  ['true', true],
  ['nan', Number.NaN],
  ['minus-infinity', -Infinity],
  ['minus', -5],
  ['one', 1],
  ['one-and-half', 1.5],
  ['date-early', new Date(5)],
  ['date-late', new Date(6)],
  ['text-empty', ''],
  ['text-upper', 'B'],
  ['text-lower', 'a'],
  ['text-longer', 'aa'],
  ['text-bmp', '\uFFEE'],
  ['text-emoji', '😀'],
  ['list-empty', []],
  ['list', [1]],
  ['list-longer', [1, 0]],
  ['list-other', [2]],
  ['map-empty', {}],
  ['map', { a: 1 }],
  ['map-longer', { a: 1, b: 0 }],
  ['map-value', { a: 2 }],
  ['map-name', { b: 0 }],
];

function describeQueries(store: DocumentStore): void {
  async function seed(documents: readonly [string, DocumentFields][]): Promise<string> {
    const collection = newCollection();
    await store.commit(
      documents.map(([id, fields]): Write => ({
        op: 'create',
        path: `${collection}/${id}`,
        fields,
      })),
    );
    return collection;
  }

  async function ids(query: Omit<Query, 'limit'> & { limit?: number }): Promise<string[]> {
    const found = await store.query({ limit: 100, ...query });
    return found.map(({ path }) => path.slice(query.collection.length + 1));
  }

  const byValue = { field: 'v', direction: 'asc' } as const;
  const numbered: [string, DocumentFields][] = [
    ['a', { v: 3, state: 'live' }],
    ['b', { v: 1, state: 'live' }],
    ['c', { v: 2, state: 'gone' }],
    ['d', { v: 2, state: 'live' }],
    ['e', { state: 'live' }],
  ];

  describe('query', () => {
    test('without order goes by document id, in the order of UTF-8', async () => {
      const names = ['b', '10', '😀', 'B', '2', '\uFFEE', 'a'];
      const collection = await seed(names.map((id) => [id, {}]));

      expect(await ids({ collection })).toEqual(['10', '2', 'B', 'a', 'b', '\uFFEE', '😀']);
    });

    test('gives whole documents with their update times', async () => {
      const collection = newCollection();
      const updateTime = await put(store, `${collection}/x`, { m: { at: new Date(5) } });

      const found = await store.query({ collection, limit: 1 });

      expect(found).toEqual([
        { path: `${collection}/x`, fields: { m: { at: new Date(5) } }, updateTime },
      ]);
    });

    test('of an empty collection finds nothing', async () => {
      expect(await ids({ collection: newCollection() })).toEqual([]);
    });

    test('does not see collections below or beside', async () => {
      const collection = await seed([['x', {}]]);
      await put(store, `${collection}/x/parts/y`, {});
      await put(store, `${collection}2/z`, {});

      expect(await ids({ collection })).toEqual(['x']);
    });

    test('orders values of every type as Firestore does', async () => {
      const shuffled = IN_ORDER.toSorted(([a], [b]) => (a < b ? -1 : 1));
      const collection = await seed(shuffled.map(([id, v]) => [id, { v }]));

      expect(await ids({ collection, orderBy: byValue })).toEqual(IN_ORDER.map(([id]) => id));
    });

    test('orders descending as the exact reverse', async () => {
      const collection = await seed(IN_ORDER.map(([id, v]) => [id, { v }]));

      const found = await ids({ collection, orderBy: { field: 'v', direction: 'desc' } });

      expect(found).toEqual(IN_ORDER.map(([id]) => id).toReversed());
    });

    test.each([
      ['asc', ['b', 'c', 'd', 'a']],
      ['desc', ['a', 'd', 'c', 'b']],
    ] as const)(
      'breaks ties by id, %s, and leaves out missing fields',
      async (direction, order) => {
        const collection = await seed(numbered);

        expect(await ids({ collection, orderBy: { field: 'v', direction } })).toEqual(order);
      },
    );

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
    ])('where %j finds %j', async (where, expected) => {
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
    ])('compares with %s', async (...[, op, value, expected]) => {
      const collection = await seed(IN_ORDER.map(([id, v]) => [id, { v }]));

      expect(await ids({ collection, where: [{ field: 'v', op, value }] })).toEqual(expected);
    });

    test('takes 0 and -0 for equal', async () => {
      const collection = await seed([
        ['a', { v: -0 }],
        ['b', { v: 0 }],
      ]);

      expect(await ids({ collection, where: [{ field: 'v', op: '==', value: 0 }] })).toEqual([
        'a',
        'b',
      ]);
    });

    test('reaches into maps by dotted paths', async () => {
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

    test('stops at the limit', async () => {
      const collection = await seed(numbered);

      expect(await ids({ collection, limit: 2 })).toEqual(['a', 'b']);
    });

    test('continues after a document of the order by id', async () => {
      const collection = await seed(numbered);

      expect(await ids({ collection, limit: 2, startAfter: { path: `${collection}/b` } })).toEqual([
        'c',
        'd',
      ]);
    });

    test.each(['asc', 'desc'] as const)(
      'pages one by one through ties and types, %s, without gap or repeat',
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

    test('continues after a document that is gone', async () => {
      const collection = await seed(numbered);
      const startAfter = { path: `${collection}/bb`, value: 1 };

      expect(await ids({ collection, orderBy: byValue, startAfter })).toEqual(['c', 'd', 'a']);
    });

    test('a change to what was found does not reach the store', async () => {
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
    ])('refuses %s', async (_name, query) => {
      const refused = store.query({ ...query, collection: newCollection() });

      await expect(refused).rejects.toThrow(RangeError);
    });
  });
}

function describeRaces(store: DocumentStore): void {
  const twenty = Array.from({ length: 20 }, (_item, index) => index);

  async function winners(attempts: Promise<unknown>[]): Promise<number[]> {
    const results = await Promise.allSettled(attempts);
    const reasons = results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as unknown] : [],
    );
    expect(reasons.filter((reason) => !(reason instanceof GuardLostError))).toEqual([]);
    return twenty.filter((index) => results[index]?.status === 'fulfilled');
  }

  describe('races', () => {
    test('exactly one of 20 creates wins, and its fields stand', async () => {
      const path = newPath();

      const won = await winners(twenty.map((by) => put(store, path, { by })));

      expect(won).toHaveLength(1);
      expect(await fieldsAt(store, path)).toEqual({ by: won[0] });
    });

    test('exactly one of 20 updates under one update time wins', async () => {
      const path = newPath();
      const updateTime = await put(store, path, { by: -1 });

      const won = await winners(
        twenty.map((by) =>
          store.commit([{ op: 'update', path, fields: { by }, guard: { updateTime } }]),
        ),
      );

      expect(won).toHaveLength(1);
      expect(await fieldsAt(store, path)).toEqual({ by: won[0] });
    });

    test('of 20 commits over two documents one wins both', async () => {
      const [a, b] = [newPath(), newPath()];

      const won = await winners(
        twenty.map((by) =>
          store.commit([
            { op: 'create', path: by % 2 === 0 ? a : b, fields: { by } },
            { op: 'create', path: by % 2 === 0 ? b : a, fields: { by } },
          ]),
        ),
      );

      expect(won).toHaveLength(1);
      expect([await fieldsAt(store, a), await fieldsAt(store, b)]).toEqual([
        { by: won[0] },
        { by: won[0] },
      ]);
    });

    test('20 guarded counters that read again lose no step', async () => {
      const path = newPath();
      await put(store, path, { count: 0 });

      await Promise.all(twenty.map(async () => increment(store, path)));

      expect(await fieldsAt(store, path)).toEqual({ count: 20 });
    });

    test('a reader never sees half a commit', async () => {
      const [a, b] = [newPath(), newPath()];
      await store.commit([a, b].map((path): Write => ({ op: 'create', path, fields: { n: 0 } })));
      const writer = (async () => {
        for (let n = 1; n <= 20; n += 1) {
          await store.commit(
            [a, b].map((path): Write => ({ op: 'update', path, fields: { n }, guard: EXISTS })),
          );
        }
      })();

      const reads = await Promise.all(twenty.map(() => store.get([a, b])));
      await writer;

      for (const [first, second] of reads) expect(first?.fields).toEqual(second?.fields);
    });
  });
}

async function increment(store: DocumentStore, path: string): Promise<void> {
  for (;;) {
    const [document] = await store.get([path]);
    if (document === undefined) throw new Error('the counter is gone');
    const count = Number(document.fields.count) + 1;
    const guard = { updateTime: document.updateTime };
    try {
      await store.commit([{ op: 'update', path, fields: { count }, guard }]);
      return;
    } catch (error) {
      if (!(error instanceof GuardLostError)) throw error;
    }
  }
}

function describeLostReplies(store: DocumentStore): void {
  /** Applies every commit and says that it could not. */
  const withoutReplies: DocumentStore = {
    get: async (paths) => store.get(paths),
    query: async (query) => store.query(query),
    async commit(writes) {
      await store.commit(writes);
      throw new StoreUnavailableError({ operation: 'commit' });
    },
  };

  describe('a lost reply', () => {
    test('leaves the commit applied, so that a reader finds its own nonce', async () => {
      const path = newPath();

      await expect(put(withoutReplies, path, { producer: 'mine' })).rejects.toThrow(
        StoreUnavailableError,
      );

      expect(await fieldsAt(store, path)).toEqual({ producer: 'mine' });
    });

    test('followed by the same commit loses the guard and counts once', async () => {
      const path = newPath();
      const updateTime = await put(store, path, { count: 1 });
      const writes: Write[] = [
        { op: 'update', path, fields: { count: 2, by: 'mine' }, guard: { updateTime } },
      ];
      await expect(withoutReplies.commit(writes)).rejects.toThrow(StoreUnavailableError);

      await expect(store.commit(writes)).rejects.toThrow(GuardLostError);

      expect(await fieldsAt(store, path)).toEqual({ count: 2, by: 'mine' });
    });
  });
}
