import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRecordings, scriptOf, splitText } from './recording.ts';

const user = (...texts: string[]) => ({
  role: 'user' as const,
  parts: texts.map((text) => ({ text })),
});
const model = (...texts: string[]) => ({
  role: 'model' as const,
  parts: texts.map((text) => ({ text })),
});
const script = (...turns: (ReturnType<typeof user> | ReturnType<typeof model>)[]) =>
  scriptOf({ id: 'r', turns }, { maxPartBytes: 1_000 });

describe('scriptOf', () => {
  test('pairs each user message with the answer after it', () => {
    const { exchanges } = script(user('a'), model('b'), user('c'));

    expect(exchanges).toEqual([
      { userTexts: ['a'], answerTexts: ['b'], recordedIndexes: [0, 1] },
      { userTexts: ['c'], answerTexts: [], recordedIndexes: [2] },
    ]);
  });

  test('merges neighbouring contents of one role and counts them', () => {
    const { exchanges, mergedContents } = script(user('a'), user('b'), model('c'), model('d'));

    expect(exchanges).toEqual([
      { userTexts: ['a', 'b'], answerTexts: ['c', 'd'], recordedIndexes: [0, 1, 2, 3] },
    ]);
    expect(mergedContents).toBe(2);
  });

  test('leaves tool calls and responses out, counts them, and joins the answer around them', () => {
    const recording = {
      id: 'r',
      turns: [
        user('weather?'),
        {
          role: 'model' as const,
          parts: [{ text: 'one moment' }, { functionCall: { name: 'w' } }],
        },
        { role: 'user' as const, parts: [{ functionResponse: { name: 'w', response: {} } }] },
        model('sunny'),
      ],
    };

    const { exchanges, leftOut } = scriptOf(recording, { maxPartBytes: 1_000 });

    expect(exchanges.map(({ answerTexts }) => answerTexts)).toEqual([['one moment', 'sunny']]);
    expect(leftOut).toMatchObject({ toolCalls: 1, toolResponses: 1 });
  });
});

describe('splitText', () => {
  test('gives pieces that fit and join to the text, never inside a code point', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.integer({ min: 4, max: 20 }),
        (text, maxBytes) => {
          const pieces = splitText(text, maxBytes);

          expect(pieces.join('')).toBe(text);
          expect(pieces.every((piece) => Buffer.byteLength(piece) <= maxBytes)).toBe(true);
          expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
        },
      ),
    );
  });
});

describe('parseRecordings', () => {
  test('names the line that is not a recording', () => {
    const good = JSON.stringify({ id: 'r', turns: [] });

    expect(() => parseRecordings(`${good}\n{"id":1}\n`)).toThrow(/line 2/);
  });

  test('refuses a file without a recording', () => {
    expect(() => parseRecordings('\n')).toThrow(/no recorded conversation/);
  });
});
