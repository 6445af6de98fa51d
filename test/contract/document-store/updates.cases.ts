import { describe, expect, test } from 'vitest';
import { InvalidWriteError } from '#shared/errors.ts';
import type { DocumentFields, DocumentStore } from '#shared/ports/ports.ts';
import {
  EXISTS,
  fieldsAt,
  newPath,
  put,
  timeAt,
} from '#test/support/stores/document-store-cases.ts';

export function describeUpdates(store: DocumentStore): void {
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
    test.each(cases)('update: $name', async ({ before, fields = {}, remove = [], after }) => {
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
    ])('an update that writes %s keeps the update time', async (_name, fields) => {
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

    test('update of 0 by -0 is a change', async () => {
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
    ])('an update refuses %s', async (_name, fields, remove) => {
      const path = newPath();
      await put(store, path, { a: 0 });

      const commit = store.commit([{ op: 'update', path, fields, remove, guard: EXISTS }]);

      await expect(commit).rejects.toThrow(InvalidWriteError);
    });
  });
}
