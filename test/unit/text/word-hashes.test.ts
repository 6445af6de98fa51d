import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashUnit, hashAsciiWords } from '#shared/text/word-hashes.ts';
import { unitsIn } from '#shared/text/word-overlap.ts';

function numbersIn(text: string): Set<number> {
  const numbers = new Set<number>();
  expect(hashAsciiWords(text, (number) => numbers.add(number))).toBe(true);
  return numbers;
}

const plainText = fc.string({
  unit: fc.constantFrom('a', 'B', 'z', '0', '9', ' ', "'", '-', '_', '.', '`', '\n'),
});

test('the numbers of a plain text hold those of all its units', () => {
  fc.assert(
    fc.property(plainText, (text) => {
      const numbers = numbersIn(text);
      for (const unit of unitsIn(text)) expect(numbers).toContain(hashUnit(unit));
    }),
  );
});

test('words that begin with other letters have other numbers', () => {
  const words = ['harbour', 'harvest', 'res', '100001', '100002', 'o', 'oboe', 'über', 'uber'];

  expect(new Set(words.map(hashUnit)).size).toBe(words.length);
});

test('a text beyond plain characters is told to be one', () => {
  expect(hashAsciiWords('Wir wohnen in Köln', () => undefined)).toBe(false);
});
