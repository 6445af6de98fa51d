import { cutHead, cutTail } from '#shared/text/cut.ts';
import fc from 'fast-check';
import { splitSentences } from '#shared/text/sentences.ts';
import {
  distinctUnits,
  distinctWords,
  hashAsciiWords,
  hashUnit,
  unitsIn,
} from '#shared/text/words.ts';
import { describe, expect, test } from 'vitest';

const family = '👨‍👩‍👧‍👦';
const flags = '🇰🇷🇯🇵🇫🇷';
const jamo = '\u1112\u1161\u11ab';

test.each([
  ['plain text', 'hello', 3, 'hel', 'llo'],
  ['all of it', 'hello', 5, 'hello', 'hello'],
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

test.each([
  ['Book a table. For two!', ['Book a table.', 'For two!']],
  ['- first point\n* second point\n3. third', ['first point', 'second point', 'third']],
  ['Ask Dr. Weber, e.g. on Monday. Thanks.', ['Ask Dr. Weber, e.g. on Monday.', 'Thanks.']],
  ['Wir kommen am 3. Mai. Gut?', ['Wir kommen am 3. Mai.', 'Gut?']],
  ['It costs 3.50 today.', ['It costs 3.50 today.']],
  ['我想订房。请不要靠近电梯！', ['我想订房。', '请不要靠近电梯！']],
  ['予約したいです。明日？', ['予約したいです。', '明日？']],
  ['He said "stop." Then left.', ['He said "stop."', 'Then left.']],
  ['> quoted line', ['quoted line']],
  ['', []],
  ['  \n\n ', []],
])('sentencesOf splits %j', (text, sentences) => {
  expect(splitSentences(text)).toEqual(sentences);
});

test.each([
  ['thousands', '1,439,323,776'],
  ['a time', '14:35:20'],
  ['a full-width number', '１，４３９'],
])('sentencesOf never splits %s', (_what, figure) => {
  for (let length = 0; length < figure.length; length += 1) {
    const text = `${'x'.repeat(length)}<td>${`<td>${figure}</td>`.repeat(60)}`;

    const rest = splitSentences(text).join('\n').replaceAll(figure, '');

    expect(rest).not.toMatch(/\p{Nd}/u);
  }
});

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
