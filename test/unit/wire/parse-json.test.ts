import { describe, expect, test } from 'vitest';
import { JSON_FIELDS_MAX, JSON_VALUES_MAX } from '#shared/wire/limits.ts';
import { parseJsonBody } from '#shared/wire/parse-json.ts';

const listOf = (count: number) => `[${Array.from({ length: count }, () => '1').join()}]`;

describe('S6: a body of many values', () => {
  test('S6: a body of as many values as are allowed is read', () => {
    expect(parseJsonBody(listOf(JSON_VALUES_MAX - 1))).toHaveLength(JSON_VALUES_MAX - 1);
  });

  test.each([
    ['numbers', listOf(JSON_VALUES_MAX)],
    ['empty lists', `[${'[],'.repeat(JSON_VALUES_MAX)}[]]`],
  ])('S6: a body of more values is refused with the bound: %s', (_, text) => {
    expect(() => parseJsonBody(text)).toThrow(
      expect.objectContaining({
        reason: 'BAD_JSON',
        publicMessage: expect.stringContaining(`more than ${JSON_VALUES_MAX} values`),
      }),
    );
  });

  test('S6: an object of too many fields is refused with the bound, a list of as many objects is not', () => {
    const many = '"a":1,'.repeat(JSON_FIELDS_MAX - 1);

    expect(parseJsonBody(`[{${many}"a":1},{"b":1}]`)).toEqual([{ a: 1 }, { b: 1 }]);
    expect(() => parseJsonBody(`{"c":{${many}"a":1,"b":1}}`)).toThrow(
      expect.objectContaining({
        publicMessage: expect.stringContaining(`more than ${JSON_FIELDS_MAX} fields`),
      }),
    );
  });

  test('commas and brackets inside a text are no values', () => {
    const text = '[{:,"'.repeat(JSON_VALUES_MAX);

    expect(parseJsonBody(JSON.stringify({ text }))).toEqual({ text });
  });

  test.each(['{"__proto__":1}', '{"a":[{"\\u005f_proto__":{}}]}'])(
    'a key that reaches the prototype is refused, however it is written: %s',
    (text) => {
      expect(() => parseJsonBody(text)).toThrow(
        expect.objectContaining({ publicMessage: expect.stringContaining('`__proto__`') }),
      );
    },
  );
});
