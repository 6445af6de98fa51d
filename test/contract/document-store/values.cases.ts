import { describe, expect, test } from 'vitest';
import { InvalidWriteError } from '#shared/errors.ts';
import type { DocumentStore, Value } from '#shared/ports/ports.ts';
import { fieldsAt, newPath, put, text } from '#test/support/stores/document-store-cases.ts';

export function describeValues(store: DocumentStore): void {
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
    test.each(values)('the store returns %s as written', async (_name, value) => {
      const path = newPath();

      await put(store, path, { value });

      expect(await fieldsAt(store, path)).toStrictEqual({ value });
    });

    test('create takes a dotted field name as one name', async () => {
      const path = newPath();

      await put(store, path, { 'a.b': 1 });

      expect(await fieldsAt(store, path)).toEqual({ 'a.b': 1 });
    });

    test('the store leaves out undefined fields at every level', async () => {
      const path = newPath();

      await put(store, path, { a: undefined, m: { b: undefined }, list: [{ c: undefined }] });

      expect(await fieldsAt(store, path)).toStrictEqual({ m: {}, list: [{}] });
    });

    test('the store takes an empty document', async () => {
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
    ])('the store refuses the value %s', async (_name, value) => {
      const path = newPath();

      await expect(put(store, path, { value })).rejects.toThrow(InvalidWriteError);

      expect(await fieldsAt(store, path)).toBeUndefined();
    });

    test('the store takes a map 20 levels deep', async () => {
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
    ])('the store refuses a path with %s', async (_name, path) => {
      await expect(put(store, path, {})).rejects.toThrow(InvalidWriteError);
    });

    test('the store takes an id with every kind of character', async () => {
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
