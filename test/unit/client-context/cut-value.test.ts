import { describe, expect, test } from 'vitest';
import { cutList, cutText } from '#shared/client-context/cut-value.ts';

const FAMILY = '👨‍👩‍👧‍👦';

const han = '한'.normalize('NFD');

describe('a text', () => {
  test.each([
    { what: 'within its limit stays', text: 'abcd', limit: 4, cut: 'abcd' },
    {
      what: 'over it tells how much is missing',
      text: 'abcdef',
      limit: 4,
      cut: 'abcd [2 more characters are left out]',
    },
    {
      what: 'is cut between the characters that people see',
      text: `ab${FAMILY}`,
      limit: 5,
      cut: 'ab [11 more characters are left out]',
    },
    {
      what: 'of Korean is cut between syllables',
      text: '안녕하세요',
      limit: 2,
      cut: '안녕 [3 more characters are left out]',
    },
    {
      what: 'of decomposed Korean too',
      text: '한국'.normalize('NFD'),
      limit: 4,
      cut: `${han} [3 more characters are left out]`,
    },
  ])('a cut text in the client context: $what', ({ text, limit, cut }) => {
    expect(cutText(text, limit)).toBe(cut);
  });

  test('a text in the client context has at most 16,384 characters', () => {
    expect(cutText('x'.repeat(16_384))).toHaveLength(16_384);
    expect(cutText('x'.repeat(20_000))).toBe(
      `${'x'.repeat(16_384)} [3,616 more characters are left out]`,
    );
  });
});

test.each([
  { what: 'empty', entries: [], limit: 4, kept: [], leftOut: 0 },
  { what: 'within its limit', entries: ['a', 'b'], limit: 4, kept: ['a', 'b'], leftOut: 0 },
  {
    what: 'over it keeps the newest',
    entries: ['one', 'two', 'x'],
    limit: 4,
    kept: ['two', 'x'],
    leftOut: 1,
  },
  {
    what: 'does not skip a long one',
    entries: ['a', 'much too long', 'b'],
    limit: 4,
    kept: ['b'],
    leftOut: 2,
  },
  {
    what: 'of empty entries is bounded',
    entries: ['', '', '', ''],
    limit: 3,
    kept: ['', '', ''],
    leftOut: 1,
  },
  {
    what: 'whose newest alone is too long cuts that',
    entries: ['a', 'abcdef'],
    limit: 4,
    kept: ['abcd [2 more characters are left out]'],
    leftOut: 1,
  },
])('a cut list in the client context: $what', ({ entries, limit, kept, leftOut }) => {
  expect(cutList(entries, limit)).toEqual({ entries: kept, leftOut });
});
