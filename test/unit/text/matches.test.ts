import { findMatches } from '#shared/text/sentences.ts';
import { describe, expect, test } from 'vitest';

const texts = ['', 'a1b22', 'no figure', '😀1😀', 'été 3 e\u0301', '1\n2\n3', 'ORD-1 ord-2'];
const patterns = [/\d+/g, /(?<=\D)(\d)|x/g, /\b/g, /(?:)/gu, /^/gm, /(ord)-(\d)/gi, /\p{L}*/gu];

describe('all matches of an expression', () => {
  test.each(patterns)('the match iterator of %s finds what matchAll finds', (pattern) => {
    for (const text of texts)
      expect(findMatches(text, pattern)).toEqual([...text.matchAll(pattern)]);
  });

  test('the match iterator ignores an expression’s earlier lastIndex', () => {
    const figure = /\d/g;
    figure.lastIndex = 4;

    expect(findMatches('1 2 3', figure).map(([written]) => written)).toEqual(['1', '2', '3']);
  });

  test('the match iterator refuses an expression that is not global', () => {
    expect(() => findMatches('1 2', /\d/)).toThrow(TypeError);
  });
});
