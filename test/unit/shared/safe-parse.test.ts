import { expect, test } from 'vitest';
import { z } from 'zod';
import { safeParse } from '#shared/safe-parse.ts';
import { parseRequest } from '#shared/wire/errors/validation-error.ts';

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

test('safeParse reads any other value like zod', () => {
  expect(safeParse(schema, { parts: ['a'] }).data).toEqual({ parts: ['a'] });
  expect(safeParse(schema, { parts: 5 }).error?.issues[0]?.path).toEqual(['parts']);
});
