import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitSentences } from '#shared/text/sentences.ts';

describe('sentencesOf', () => {
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

  test('sentencesOf treats a code fence as one block', () => {
    const text = 'Look:\n```ts\nconst a = 1. ;\nconst b = 2;\n```\nDone.';

    expect(splitSentences(text)).toEqual(['Look:', 'const a = 1. ;\nconst b = 2;', 'Done.']);
  });

  test('sentencesOf cuts a long sentence behind a comma', () => {
    const clause = 'this goes on without any point for a good while, ';
    const sentences = splitSentences(clause.repeat(12));

    expect(sentences.length).toBeGreaterThan(1);
    expect(sentences.every((sentence) => sentence.length <= 300)).toBe(true);
    expect(sentences[0]).toMatch(/while,$/);
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

  test('sentencesOf returns only bounded, well-formed parts of a text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 900 }), (text) => {
        for (const sentence of splitSentences(text)) {
          expect(text.toWellFormed()).toContain(sentence);
          expect(sentence.isWellFormed()).toBe(true);
          expect(sentence.length).toBeLessThanOrEqual(300);
        }
      }),
    );
  });
});
