import { findSchemaFault } from '#shared/json-schema.ts';
import { describe, expect, test } from 'vitest';

/** Each definition names the next one twice. */
const doubling = (keyword: string, depth: number) => ({
  $ref: '#/$defs/0',
  $defs: Object.fromEntries(
    Array.from({ length: depth }, (_, i) => {
      const next = { $ref: `#/$defs/${i + 1}` };
      return [String(i), i === depth - 1 ? {} : { [keyword]: [next, next] }];
    }),
  ),
});

describe('a schema that a client gives', () => {
  test.each<[string, Record<string, unknown>, string[], string]>([
    [
      'an unknown type',
      { properties: { a: { type: 'x' } } },
      ['properties', 'a', 'type'],
      'must be one of',
    ],
    ['properties in a list', { properties: [] }, ['properties'], 'must hold schemas by name'],
    ['alternatives in no list', { anyOf: {} }, ['anyOf'], 'must be a list of schemas'],
    ['a number in the place of a schema', { anyOf: [{}, 1] }, ['anyOf', '1'], 'must be a schema'],
    [
      'required that is no list',
      { items: { required: 'a' } },
      ['items', 'required'],
      'list of names',
    ],
    ['a bound that is a text', { minLength: '1' }, ['minLength'], 'must be a number'],
    ['another document', { $ref: 'https://example.com' }, ['$ref'], 'no other document is read'],
    [
      'a reference to nothing',
      { $ref: '#/$defs/none' },
      [],
      '"#/$defs/none", which it does not define',
    ],
    [
      'a reference to what is no schema',
      { $ref: '#/required', required: [] },
      [],
      'does not define',
    ],
    ['a circle', { $ref: '#' }, [], 'refers to itself without end'],
    ['a circle in alternatives', { anyOf: [{}, { not: { $ref: '#' } }] }, [], 'refers to itself'],
    ['forty doubling references', doubling('allOf', 40), [], 'more than 1000 checks of one value'],
    ['forty doubling alternatives', doubling('anyOf', 40), [], 'more than 1000 checks'],
    [
      '10,000 schemas',
      { prefixItems: Array.from({ length: 10_000 }, () => ({})) },
      [],
      'more than 2000 schemas',
    ],
  ])(
    'S22: a schema is refused with its place and the reason: %s',
    (...[, schema, path, message]) => {
      expect(findSchemaFault(schema)).toEqual({ path, message: expect.stringContaining(message) });
    },
  );
});
