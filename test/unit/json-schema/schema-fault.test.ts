import { expect, test } from 'vitest';
import { AppError } from '#shared/lib/errors.ts';
import { parseRequest } from '#shared/wire/errors/validation-error.ts';
import { responseSchemaSchema } from '#shared/wire/response-schema.ts';
import { z } from 'zod';

const body = z.object({ responseSchema: responseSchemaSchema });

/** What a client is told of a schema; undefined: it is taken. */
function refusalOf(responseSchema: unknown): string | undefined {
  try {
    parseRequest(body, { responseSchema });
    return undefined;
  } catch (error) {
    if (error instanceof AppError) return error.publicMessage;
    throw error;
  }
}

const tree = {
  $ref: '#/$defs/node',
  $defs: {
    node: {
      type: 'object',
      properties: { children: { type: 'array', items: { $ref: '#/$defs/node' } } },
    },
  },
};

test.each<[string, Record<string, unknown>]>([
  ['of a tree', tree],
  ['with a hundred alternatives', { anyOf: Array.from({ length: 100 }, () => ({ type: 'null' })) }],
  ['that refers to a field of itself', { properties: { a: {}, b: { $ref: '#/properties/a' } } }],
  ['with escaped names', { $ref: '#/$defs/a~1b~0', $defs: { 'a/b~': true } }],
  ['with a field named like a keyword', { properties: { type: { type: 'string' }, $ref: {} } }],
  ['with a pattern of 31 kB', { pattern: String.raw`\p{L}{5}`.repeat(3_500) }],
])('a schema is taken: one %s', (_, schema) => {
  expect(refusalOf(schema)).toBeUndefined();
});

test.each<[string, Record<string, unknown>, string]>([
  [
    'an unknown type',
    { properties: { a: { type: 'x' } } },
    '`responseSchema.properties.a.type`: must be one of: object, array,',
  ],
  ['properties in a list', { properties: [] }, '`responseSchema.properties` must be an object.'],
  ['alternatives in no list', { anyOf: {} }, '`responseSchema.anyOf` must be a list.'],
  [
    'a number in the place of a schema',
    { anyOf: [{}, 1] },
    '`responseSchema.anyOf[1]`: must be a schema',
  ],
  [
    'required that is no list',
    { items: { required: 'a' } },
    '`responseSchema.items.required` must be a list.',
  ],
  ['a bound that is a text', { minLength: '1' }, '`responseSchema.minLength` must be a number.'],
  [
    'another document',
    { $ref: 'https://example.com' },
    '`responseSchema.$ref`: must begin with #: no other document is read',
  ],
  ['a reference to nothing', { $ref: '#/$defs/none' }, '"#/$defs/none", which it does not define'],
  ['a reference to what is no schema', { $ref: '#/required', required: [] }, 'does not define'],
])('a schema is refused with its place and the reason: %s', (...[, schema, told]) => {
  expect(refusalOf(schema)).toContain(told);
});
