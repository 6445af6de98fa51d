import { boundedJson, jsonFault, LEFT_OUT } from '#shared/lib/json-text.ts';
import { JSON_DEPTH_MAX } from '#shared/lib/limits.ts';
import { expect, test } from 'vitest';
import { safeParse } from '#shared/lib/safe-parse.ts';
import { parseRequest } from '#shared/wire/errors/validation-error.ts';
import { z } from 'zod';

function nested(levels: number, innermost: unknown = 'x'): unknown {
  let value = innermost;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

const withKey = (key: string): unknown => Object.fromEntries([[key, 1]]);

test.each<[string, unknown, string]>([
  ['100,000 levels', nested(100_000), 'is nested deeper than 32 levels; flatten it'],
  ['half a character', { a: ['b\uD800'] }, 'holds half of a surrogate pair; send valid Unicode'],
  [
    'half a character in a key',
    withKey('\uDE00'),
    'holds half of a surrogate pair; send valid Unicode',
  ],
  ['a number beyond all', { a: Infinity }, 'holds a number that is too large; send it as a text'],
  ['a key of the prototype', withKey('__proto__'), 'has a key `__proto__`; remove it'],
])('bounded JSON names the fault in a value with %s', (_, value, fault) => {
  expect(jsonFault(value)).toBe(fault);
});

test.each<[unknown, unknown]>([
  [nested(JSON_DEPTH_MAX + 1), nested(JSON_DEPTH_MAX, LEFT_OUT)],
  [{ a: ['b\uD800'] }, { a: ['b\uFFFD'] }],
  [withKey('\uDE00'), { '\uFFFD': 1 }],
  [
    { a: Infinity, b: [NaN] },
    { a: null, b: [null] },
  ],
  [withKey('__proto__'), { proto: 1 }],
])('bounded JSON repairs a value to what can be stored: %#', (value, mended) => {
  expect(boundedJson(value)).toEqual(mended);
});

/** zod compares this with a limit, and it can be compared with nothing. */
const incomparable = { length: { toString: 1, valueOf: 1 } };
const schema = z.object({ parts: z.array(z.string()).max(5) });

test('S6: an object with an invalid length is refused without a zod error', () => {
  expect(() => schema.safeParse({ parts: incomparable })).toThrow(TypeError);
  expect(safeParse(schema, { parts: incomparable }).error?.issues).toHaveLength(1);
  expect(() => parseRequest(schema, { parts: incomparable })).toThrow(
    expect.objectContaining({ reason: 'BAD_FIELD', status: 'INVALID_ARGUMENT' }),
  );
});
