import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { distinctUnits, distinctWords } from '#shared/text/word-overlap.ts';

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
