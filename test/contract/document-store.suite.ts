import { describe, expect, test } from 'vitest';
import { GuardLostError, InvalidWriteError } from '#shared/lib/errors.ts';
import type { DocumentFields, DocumentStore, Value, Write } from '#shared/ports/ports.ts';
import {
  EXISTS,
  fieldsAt,
  newCollection,
  newPath,
  put,
  text,
  timeAt,
} from './document-store-cases.ts';
import { describeQueries } from './document-store-queries.suite.ts';
import { describeWatch } from './document-store-watch.suite.ts';

/**
 * What every DocumentStore does, run on each implementation. `create` is called once: the tests share the store, keep apart
 * by their own collections and run side by side. What all stores refuse before they are asked is tested once, in memory.
 */
export function describeDocumentStore(name: string, create: () => DocumentStore): void {
  describe.concurrent(`document store: ${name}`, () => {
    const store = create();
    describeReads(store);
    describeGuards(store);
    describeCommits(store);
    describeUpdates(store);
    describeMerges(store);
    describeValues(store);
    describeLimits(store);
    describeQueries(store);
    describeWatch(store);
    describeDeletions(store);
    describeRaces(store);
  });
}

function describeReads(store: DocumentStore): void {
  test('get returns documents in the requested order, undefined for missing ones', async () => {
    const [a, parent] = [newPath(), newPath()];
    const b = `${parent}/parts/1`;
    const times = await store.commit([
      { op: 'create', path: a, fields: { at: 'a' } },
      { op: 'create', path: b, fields: { at: 'b' } },
    ]);

    const found = await store.get([b, newPath(), a, parent, b]);

    const documentB = { path: b, fields: { at: 'b' }, updateTime: times[1] };
    const documentA = { path: a, fields: { at: 'a' }, updateTime: times[0] };
    expect(found).toEqual([documentB, undefined, documentA, undefined, documentB]);
    expect(await store.get([])).toEqual([]);
  });
}

/** A document that was deleted, created again and updated, with the update time of each step. */
async function changedDocument(store: DocumentStore) {
  const path = newPath();
  const beforeDeletion = await put(store, path, { n: 1 });
  await store.commit([{ op: 'delete', path }]);
  const beforeUpdate = await put(store, path, { n: 1 });
  const [newest = ''] = await store.commit([
    { op: 'update', path, fields: { n: 2 }, guard: EXISTS },
  ]);
  return { path, missing: newPath(), beforeDeletion, beforeUpdate, newest };
}

function describeGuards(store: DocumentStore): void {
  const fields = { n: 3 };
  type Time = 'newest' | 'beforeUpdate' | 'beforeDeletion';

  test('a create over a document loses and changes nothing', async () => {
    const { path } = await changedDocument(store);

    await expect(put(store, path, fields)).rejects.toThrow(GuardLostError);

    expect(await fieldsAt(store, path)).toEqual({ n: 2 });
  });

  test.each<['update' | 'delete', 'path' | 'missing', Time | undefined]>([
    ['update', 'path', 'beforeUpdate'],
    ['update', 'path', 'beforeDeletion'],
    ['update', 'missing', 'newest'],
    ['update', 'missing', undefined],
    ['delete', 'path', 'beforeUpdate'],
    ['delete', 'missing', 'newest'],
    ['delete', 'missing', undefined],
  ])('a guarded %s of %s with the time %s loses and changes nothing', async (op, place, time) => {
    const changed = await changedDocument(store);
    const paths = [changed.path, changed.missing];
    const before = await store.get(paths);
    const guard = time === undefined ? EXISTS : { updateTime: changed[time] };

    const path = changed[place];
    const writes: Write[] = op === 'delete' ? [{ op, path, guard }] : [{ op, path, fields, guard }];

    await expect(store.commit(writes)).rejects.toThrow(GuardLostError);
    expect(await store.get(paths)).toEqual(before);
  });

  test('a write whose guard holds is applied', async () => {
    const { path, missing, newest, ...earlier } = await changedDocument(store);
    const times = [newest, ...Object.values(earlier)];
    const checked = await store.commit([
      { op: 'update', path, fields: {}, guard: { updateTime: newest } },
    ]);
    const [updated = ''] = await store.commit([
      { op: 'update', path, fields, guard: { updateTime: newest } },
    ]);

    expect(checked).toEqual([newest]);
    expect(await fieldsAt(store, path)).toEqual(fields);
    expect(new Set([...times, updated]).size).toBe(4);
    await store.commit([{ op: 'delete', path, guard: { updateTime: updated } }]);
    expect(await fieldsAt(store, path)).toBeUndefined();
    expect(await store.commit([{ op: 'delete', path: missing }])).toEqual(['']);
  });
}

function describeCommits(store: DocumentStore): void {
  test.each([0, 4])('a commit applies nothing where write %i loses its guard', async (place) => {
    const [created, updated, deleted, merged] = [newPath(), newPath(), newPath(), newPath()];
    await put(store, updated, { n: 1 });
    await put(store, deleted, { n: 1 });
    const writes: Write[] = [
      { op: 'create', path: created, fields: { n: 2 } },
      { op: 'update', path: updated, fields: { n: 2 }, guard: EXISTS },
      { op: 'delete', path: deleted },
      { op: 'merge', path: merged, fields: { n: 2 } },
    ];

    const losing: Write = { op: 'update', path: newPath(), fields: { n: 2 }, guard: EXISTS };
    const commit = store.commit(writes.toSpliced(place, 0, losing));

    await expect(commit).rejects.toThrow(GuardLostError);
    const found = await store.get([created, updated, deleted, merged]);
    expect(found.map((document) => document?.fields)).toEqual([
      undefined,
      { n: 1 },
      { n: 1 },
      undefined,
    ]);
  });

  test('a commit takes the values as they were when it was called', async () => {
    const path = newPath();
    const inner = { list: [1] };
    const commit = store.commit([{ op: 'create', path, fields: { inner } }]);

    inner.list.push(2);
    await commit;

    expect(await fieldsAt(store, path)).toEqual({ inner: { list: [1] } });
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
      name: 'replaces maps and lists as a whole and keeps the fields that it does not name',
      before: { a: 1, m: { a: 1, b: 2 }, list: [1, 2] },
      fields: { m: { c: 3 }, list: [3] },
      after: { a: 1, m: { c: 3 }, list: [3] },
    },
    {
      name: 'sets a field in a map by a dotted path, and makes maps that are missing',
      before: { m: { a: 1, n: { b: 2 } } },
      fields: { 'm.n.c': 3, 'need.auto.since': new Date(7) },
      after: { m: { a: 1, n: { b: 2, c: 3 } }, need: { auto: { since: new Date(7) } } },
    },
    {
      name: 'puts a map in the place of a text on a dotted path',
      before: { a: 'text' },
      fields: { 'a.b': 1 },
      after: { a: { b: 1 } },
    },
    {
      name: 'removes fields, and leaves the map that becomes empty',
      before: { a: 1, open: { seq: 1 }, need: { auto: 1 } },
      remove: ['open', 'need.auto'],
      after: { a: 1, need: {} },
    },
    {
      name: 'sets and removes different parts of one map',
      before: { m: { a: 1, b: 2 } },
      fields: { 'm.c': 3 },
      remove: ['m.a'],
      after: { m: { b: 2, c: 3 } },
    },
  ];

  test.each(cases)('an update $name', async ({ before, fields = {}, remove = [], after }) => {
    const path = newPath();
    await put(store, path, before);

    await store.commit([{ op: 'update', path, fields, remove, guard: EXISTS }]);

    expect(await fieldsAt(store, path)).toStrictEqual(after);
  });

  test('an update to the values that are there keeps the update time', async () => {
    const path = newPath();
    const fields = { n: 1, nan: Number.NaN, m: { a: 1, b: 2 }, at: new Date(5) };
    const updateTime = await put(store, path, fields);
    const same = { n: 1, nan: Number.NaN, m: { b: 2, a: 1 }, at: new Date(5) };

    const whole = await store.commit([{ op: 'update', path, fields: same, guard: EXISTS }]);
    const part = await store.commit([{ op: 'update', path, fields: { 'm.a': 1 }, guard: EXISTS }]);

    expect([...whole, ...part, await timeAt(store, path)]).toEqual(Array(3).fill(updateTime));
  });
}

function describeMerges(store: DocumentStore): void {
  const merge = (path: string, fields: DocumentFields, remove?: string[]): Write => ({
    op: 'merge',
    path,
    fields,
    ...(remove && { remove }),
  });

  test('a merge creates a document, of which it has the update time', async () => {
    const path = newPath();

    const times = await store.commit([merge(path, { a: 1, m: { b: 2 }, none: undefined }, ['c'])]);

    expect(await fieldsAt(store, path)).toStrictEqual({ a: 1, m: { b: 2 } });
    expect(times).toEqual([await timeAt(store, path)]);
  });

  test('a merge sets and removes whole fields, maps too, and keeps the others', async () => {
    const path = newPath();
    await put(store, path, {
      a: 1,
      m: { a: 1, b: 2 },
      list: [1, 2],
      old: { x: 1 },
      kept: { y: 1 },
    });

    await store.commit([merge(path, { a: 2, m: { c: 3 }, list: [3], empty: {} }, ['old', 'none'])]);

    expect(await fieldsAt(store, path)).toStrictEqual({
      a: 2,
      m: { c: 3 },
      list: [3],
      empty: {},
      kept: { y: 1 },
    });
  });

  test('a merge of the values that are there keeps the update time', async () => {
    const path = newPath();
    const updateTime = await put(store, path, { a: 1, m: { b: 2 } });

    const times = await store.commit([merge(path, { m: { b: 2 } }, ['none'])]);

    expect([...times, await timeAt(store, path)]).toEqual([updateTime, updateTime]);
  });

  test('a merge over another one changes nothing of what that one wrote elsewhere', async () => {
    const path = newPath();

    await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) => store.commit([merge(path, { [name]: 1 })])),
    );

    expect(await fieldsAt(store, path)).toEqual({ a: 1, b: 1, c: 1, d: 1 });
  });
}

function describeValues(store: DocumentStore): void {
  const nested = (levels: number): Value => (levels === 0 ? 1 : { a: nested(levels - 1) });

  test('the store returns values of every kind as written', async () => {
    const path = newPath();
    const fields = {
      null: null,
      booleans: [true, false],
      numbers: [0, 1, -1, 1.5, 1e300, Number.MAX_SAFE_INTEGER, 2 ** 60, Infinity, -Infinity],
      notANumber: Number.NaN,
      negativeZero: -0,
      empty: { text: '', list: [], map: {}, inList: [{}] },
      text: 'aä€😀\u{10FFFF}\u0000\uFEFF\uFFFE\u200D\u202E\r\n',
      accents: ['\u00E9', 'e\u0301'],
      dates: [new Date(0), new Date(-1), new Date(1_795_261_744_977)],
      outermostDates: [new Date('0001-01-01T00:00:00.000Z'), new Date('9999-12-31T23:59:59.999Z')],
      nested: [{ list: [{ list: [1, 'a', null] }] }],
      twentyLevels: nested(20),
      names: { 'a.b': 1, 'c/d': 2, constructor: 3, '`': 4 },
      'a.b': 'a dot in the name of a field',
    };

    await put(store, path, fields);

    expect(await fieldsAt(store, path)).toStrictEqual(fields);
  });

  test('the store leaves out undefined fields at every level, and takes an empty document', async () => {
    const [path, empty] = [newPath(), newPath()];

    await put(store, path, { a: undefined, m: { b: undefined }, list: [{ c: undefined }] });
    await put(store, empty, {});

    expect(await fieldsAt(store, path)).toStrictEqual({ m: {}, list: [{}] });
    expect(await fieldsAt(store, empty)).toEqual({});
  });
}

function describeLimits(store: DocumentStore): void {
  test('the store takes a value of 1,048,487 bytes', async () => {
    const path = 'things/largest-value';
    await store.commit([{ op: 'delete', path }]);

    await put(store, path, { a: text(1_048_487) });

    expect(await fieldsAt(store, path)).toEqual({ a: text(1_048_487) });
  });

  test('the store takes a document of 1 MiB, and refuses an update that would make it larger', async () => {
    const path = newPath();
    const frame = path.length + 1 + 16 + 32 + 2 * (2 + 1);
    const fields = { a: text(500_000), b: text(1_048_576 - frame - 500_000) };
    await put(store, path, fields);

    const grown = store.commit([{ op: 'update', path, fields: { c: 'more' }, guard: EXISTS }]);

    await expect(grown).rejects.toThrow(InvalidWriteError);
    expect(await fieldsAt(store, path)).toEqual(fields);
  });

  test('the store takes a commit of 500 writes', async () => {
    const collection = newCollection();
    const writes = Array.from({ length: 500 }, (_item, index): Write => ({
      op: 'create',
      path: `${collection}/${index}`,
      fields: {},
    }));

    expect(await store.commit(writes)).toHaveLength(500);
  });
}

async function seedPaths(store: DocumentStore, paths: readonly string[]): Promise<void> {
  for (let start = 0; start < paths.length; start += 400) {
    const some = paths.slice(start, start + 400);
    await store.commit(some.map((path) => ({ op: 'create', path, fields: {} })));
  }
}

async function existing(store: DocumentStore, paths: readonly string[]): Promise<string[]> {
  return (await store.get(paths)).flatMap((document) => document?.path ?? []);
}

function describeDeletions(store: DocumentStore): void {
  test('a deletion takes what is below a path at any depth, and nothing above or beside it', async () => {
    const parent = newPath();
    const path = `${parent}/parts/c1`;
    const below = ['turns/1', 'turns/1/parts/1/bits/1', 'streams/missing/chunks/gone/bits/1'].map(
      (rest) => `${path}/${rest}`,
    );
    const others = [
      path,
      parent,
      `${parent}/parts/c10/turns/1`,
      `${parent}/parts/c/turns/1`,
      `${parent}/parts2/c1/turns/1`,
    ];
    await seedPaths(store, [...others, ...below]);

    expect(await store.deleteBelow(path)).toBe(below.length);
    expect(await existing(store, [...others, ...below])).toEqual(others);
    expect(await store.deleteBelow(path)).toBe(0);
  });

  test('a deletion takes more documents than one commit may hold', async () => {
    const path = newPath();
    const turns = Array.from({ length: 1_250 }, (_, index) => `${path}/turns/${index}`);
    await seedPaths(store, turns);

    expect(await store.deleteBelow(path)).toBe(1_250);
    expect(await store.query({ collection: `${path}/turns`, limit: 1 })).toEqual([]);
  });

  test('a deletion stops when its signal fires, and a repeat finishes it', async () => {
    const path = newPath();
    const below = Array.from({ length: 6 }, (_, index) => `${path}/turns${index}/1`);
    await seedPaths(store, below);
    const controller = new AbortController();

    const deletion = store.deleteBelow(path, controller.signal);
    controller.abort(new Error('over'));

    await expect(deletion).rejects.toThrow('over');
    await expect(store.deleteBelow(path, controller.signal)).rejects.toThrow('over');
    const left = await existing(store, below);
    expect(await store.deleteBelow(path)).toBe(left.length);
    expect(await existing(store, below)).toEqual([]);
  });
}

function describeRaces(store: DocumentStore): void {
  const twenty = Array.from({ length: 20 }, (_item, index) => index);

  /** Who of twenty got through; everybody else lost a guard. */
  async function winners(attempts: Promise<unknown>[]): Promise<number[]> {
    const results = await Promise.allSettled(attempts);
    const reasons = results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as unknown] : [],
    );
    expect(reasons.filter((reason) => !(reason instanceof GuardLostError))).toEqual([]);
    return twenty.filter((index) => results[index]?.status === 'fulfilled');
  }

  test('exactly one of 20 updates with the same update time wins', async () => {
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
}
