import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  distinctUnits,
  distinctWords,
  hashAsciiWords,
  hashUnit,
  unitsIn,
} from '#shared/text/words.ts';

/** A sign that has a text read as one of any script. */
const FOREIGN = ' ж';
const without = (words: ReadonlySet<string>): string[] => [...words].filter((one) => one !== 'ж');

const plainText = fc.string({
  unit: fc.constantFrom('a', 'Z', '0', '9', "'", '"', ' ', '\n', '-', '_', '.', 'the ', 'booking'),
  maxLength: 60,
});

describe('the words of a text', () => {
  test('are the same, whichever way a plain text is read', () => {
    fc.assert(
      fc.property(plainText, (text) => {
        expect([...distinctWords(text)]).toEqual(without(distinctWords(text + FOREIGN)));
        expect([...distinctUnits(text)]).toEqual(without(distinctUnits(text + FOREIGN)));
      }),
    );
  });

  test.each([
    ["Don't book room7 for Ann's dogs'", ["don't", 'book', "ann's", "dogs'", 'room7']],
    ['RES-100007 costs 87.50', ['res', 'costs', '100007', '87', '50']],
  ])('%s → %j', (text, units) => {
    expect([...distinctUnits(text)]).toEqual(units);
  });
});

function numbersIn(text: string): Set<number> {
  const numbers = new Set<number>();
  expect(hashAsciiWords(text, (number) => numbers.add(number))).toBe(true);
  return numbers;
}

const signs = fc.string({
  unit: fc.constantFrom('a', 'B', 'z', '0', '9', ' ', "'", '-', '_', '.', '`', '\n'),
});

test('the numbers of a plain text hold those of all its units', () => {
  fc.assert(
    fc.property(signs, (text) => {
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
