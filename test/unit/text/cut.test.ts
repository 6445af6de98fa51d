import { describe, expect, test } from 'vitest';
import { cutHead, cutTail } from '#shared/text/cut.ts';

const family = '👨‍👩‍👧‍👦';
const flags = '🇰🇷🇯🇵🇫🇷';
const jamo = '\u1112\u1161\u11ab';

describe('cutHead and cutTail', () => {
  test.each([
    ['plain text', 'hello', 3, 'hel', 'llo'],
    ['all of it', 'hello', 5, 'hello', 'hello'],
    ['more than all', 'hello', 9, 'hello', 'hello'],
    ['nothing', 'hello', 0, '', ''],
    ['less than nothing', 'hello', -4, '', ''],
    ['a surrogate pair', 'a😀b', 2, 'a', 'b'],
    ['a family', `a${family}b`, 5, 'a', 'b'],
    ['flags', `a${flags}b`, 7, 'a🇰🇷', '🇫🇷b'],
    ['Hangul jamo', `a${jamo}b`, 3, 'a', 'b'],
    ['a line end', 'a\r\nb', 2, 'a', 'b'],
    ['a combining accent', 'ae\u0301b', 2, 'a', 'b'],
  ])('cutHead and cutTail cut %s at a whole character', (...[, text, max, head, tail]) => {
    expect(cutHead(text, max)).toBe(head);
    expect(cutTail(text, max)).toBe(tail);
  });

  test('cutHead and cutTail never leave half a surrogate pair', () => {
    const text = `${'z\u0300'.repeat(9)}${family.repeat(40)}${flags}${'😀'.repeat(300)}`;

    for (let max = 0; max <= text.length; max++) {
      expect(cutHead(text, max).isWellFormed()).toBe(true);
      expect(cutTail(text, max).isWellFormed()).toBe(true);
      expect(cutHead(text, max).length).toBeLessThanOrEqual(max);
      expect(cutTail(text, max).length).toBeLessThanOrEqual(max);
    }
  });

  test('cutHead and cutTail cut inside a huge cluster of accents rather than losing all', () => {
    const text = `e${'\u0301'.repeat(5_000)}`;

    expect(cutHead(text, 1_000)).toHaveLength(1_000);
  });
});
