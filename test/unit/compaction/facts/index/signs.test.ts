import fc from 'fast-check';
import { expect, test } from 'vitest';
import { holdsSign, signs } from '#shared/compaction/facts/index/signs.ts';

const patterns: Readonly<Record<keyof typeof signs, RegExp>> = {
  beyondAscii: /[^\0-\x7f]/,
  figure: /[0-9]/,
  capital: /[A-Z]/,
  colon: /:/,
  quote: /["'`]/,
  slash: /[/\\]/,
  join: /[.-]/,
  percent: /%/,
  plus: /\+/,
};

const texts = fc.string({
  unit: fc.constantFrom(
    'a',
    'Z',
    '7',
    ':',
    '"',
    "'",
    '`',
    '/',
    '\\',
    '.',
    '-',
    '%',
    '+',
    'é',
    '🙂',
  ),
  maxLength: 12,
});

test.each(Object.entries(signs))('a text holds %s where an expression finds it', (name, sign) => {
  const pattern = Object.entries(patterns).find(([key]) => key === name)?.[1];

  fc.assert(
    fc.property(texts, (text) => {
      expect(holdsSign(text, sign)).toBe(pattern?.test(text));
    }),
  );
});

test('the sign index can be asked for several signs at once', () => {
  expect(holdsSign('at 7', signs.colon | signs.figure)).toBe(true);
  expect(holdsSign('at noon', signs.colon | signs.figure)).toBe(false);
});
