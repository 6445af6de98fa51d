import { oneLine, oneShortLine, textKey } from '#shared/text/cut.ts';
import { describe, expect, test } from 'vitest';

test('an item text of many lines becomes one line without control characters', () => {
  expect(oneLine(' a\r\n\tb\u2028c\u0000\u0085d ')).toBe('a b c d');
});

test('an item text is cut between graphemes, not after a blank', () => {
  expect(oneShortLine('ab 👩‍👩‍👧 c', 5)).toBe('ab');
});

describe('texts are compared', () => {
  test.each([
    ['No meat!', 'no  meat'],
    ['４７１１。', '4711'],
    ['Wait…', 'wait'],
  ])('the text comparison treats %j like %j', (one, other) => {
    expect(textKey(one)).toBe(textKey(other));
  });

  test('the text comparison distinguishes punctuation other than at the end', () => {
    expect(textKey('3.5 km')).not.toBe(textKey('35 km'));
  });
});
