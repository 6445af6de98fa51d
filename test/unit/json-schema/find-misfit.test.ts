import { findMisfit } from '#shared/lib/json-schema.ts';
import { expect, test } from 'vitest';

type Schema = Parameters<typeof findMisfit>[0];

/** As a client sends it. */
const conditional: Schema = JSON.parse('{"if":{"type":"number"},"then":{"minimum":1}}');

test.each<[Schema, unknown, string]>([
  [{ type: 'integer' }, 3.5, '# must be integer, not number.'],
  [{ type: ['string', 'null'] }, [], '# must be string or null, not array.'],
  [{ enum: ['a', { b: 1 }] }, { b: 2 }, '# is no value of its `enum`.'],
  [{ const: 1 }, '1', '# is not its `const`.'],
  [{ minimum: 1, multipleOf: 2 }, -1, '# must be at least 1. # must be a multiple of 2.'],
  [{ exclusiveMaximum: 2 }, 2, '# must be below 2.'],
  [{ maxLength: 1 }, '😀b', '# must have at most 1 characters.'],
  [{ items: { type: 'number' } }, ['a', 1], '#/0 must be number, not string.'],
  [
    { uniqueItems: true },
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    '# has an item twice.',
  ],
  [{ prefixItems: [{}], items: false }, [1, 2], '#/1 must not be there.'],
  [{ required: ['a', 'b'] }, { a: 1 }, '# lacks "b".'],
  [{ properties: { 'a/b': { minItems: 1 } } }, { 'a/b': [] }, '#/a~1b must have at least 1 items.'],
  [{ additionalProperties: false }, { a: 1 }, '#/a must not be there.'],
  [{ maxProperties: 1 }, { a: 1, b: 1 }, '# must have at most 1 properties.'],
  [
    { anyOf: [{ type: 'null' }, { properties: { a: { type: 'null' } } }] },
    { a: 1 },
    '#/a must be null, not number.',
  ],
  [{ anyOf: [{ type: 'null' }] }, 1, '# fits none of `anyOf`.'],
  [{ oneOf: [{}, true] }, 1, '# fits more than one of `oneOf`.'],
  [{ allOf: [{ minimum: 2 }] }, 1, '# must be at least 2.'],
  [{ not: {} }, 1, '# fits what `not` excludes.'],
  [{ if: { type: 'string' }, else: { minimum: 1 } }, 0, '# must be at least 1.'],
  [conditional, 0, '# must be at least 1.'],
  [{ $ref: '#/$defs/a', $defs: { a: { type: 'null' } } }, 1, '# must be null, not number.'],
  [
    { items: { type: 'null' } },
    [1, 2, 3, 4],
    '#/0 must be null, not number. #/1 must be null, not number. #/2 must be null, not number.',
  ],
])('a misfit is told with its place: %j %j', (schema, value, told) => {
  expect(findMisfit(schema, value)).toBe(told);
});

const deep = JSON.parse('['.repeat(30_000) + ']'.repeat(30_000));
const twice = { items: { $ref: '#' } };
const pairs = Array.from({ length: 20 }).reduce<unknown>((inner) => [inner, inner], 1);
const next = (i: number) => ({ $ref: `#/$defs/${i + 1}` });
const definitions = Array.from({ length: 40 }, (_, i) => [i, { allOf: [next(i), next(i)] }]);
const doubling = { $ref: '#/$defs/0', $defs: Object.fromEntries([...definitions, [40, {}]]) };
test.each<[string, Schema, unknown]>([
  ['depth', { items: { $ref: '#' } }, deep],
  ['alternatives that double with every level', { allOf: [twice, twice] }, pairs],
  [
    'objects that shall be unique',
    { uniqueItems: true },
    Array.from({ length: 50_000 }, (_, a) => ({ a })),
  ],
  ['a definition that refers to itself', { $ref: '#' }, 1],
  ['forty definitions that name the next one twice', doubling, 1],
])('S22: a check that never seems to end is given up: %s', (_, schema, value) => {
  expect(findMisfit(schema, value)).toBe('It takes too long to be checked.');
});
