import { describe, expect, test } from 'vitest';
import { schemaProblems } from '../support/json-schema-check.ts';

const names = {
  Pin: {
    type: 'object' as const,
    required: ['id'],
    properties: {
      id: { type: 'string' as const, minLength: 1 },
      seq: { type: 'integer' as const },
    },
  },
};

const problems = (value: unknown, schema: Parameters<typeof schemaProblems>[1]) =>
  schemaProblems(value, schema, { names, path: '$' });

describe('the check of answers', () => {
  test('the schema check accepts a matching answer', () => {
    expect(problems({ id: 'a', seq: 1 }, { $ref: '#/components/schemas/Pin' })).toEqual([]);
  });

  test.each([
    ['a missing field', {}, '$.id: missing'],
    ['a field that is not described', { id: 'a', more: 1 }, '$.more: not in the document'],
    ['another type', { id: 7 }, '$.id: not string'],
    ['a text that is too short', { id: '' }, '$.id: length'],
    ['a fraction', { id: 'a', seq: 1.5 }, '$.seq: not integer'],
  ])('the schema check finds %s', (_, value, problem) => {
    expect(problems(value, { $ref: '#/components/schemas/Pin' })).toEqual([problem]);
  });

  test.each([
    ['no form of a union', 7, { anyOf: [{ type: 'string' as const }] }],
    ['two forms where one is meant', 'a', { oneOf: [{ type: 'string' as const }, {}] }],
    ['another constant', 'b', { const: 'a' }],
    ['a value outside an enumeration', 'c', { enum: ['a', 'b'] }],
    ['a pattern that does not match', 'x', { type: 'string' as const, pattern: '^\\d$' }],
    ['too many entries', [1, 2], { type: 'array' as const, maxItems: 1 }],
    ['a wrong entry', ['a', 1], { type: 'array' as const, items: { type: 'string' as const } }],
  ])('the schema check finds a mistake: %s', (_, value, schema) => {
    expect(problems(value, schema)).not.toEqual([]);
  });

  test('the schema check refuses an unknown keyword', () => {
    expect(() => problems('a', { multipleOf: 2 })).toThrow('multipleOf');
  });
});
