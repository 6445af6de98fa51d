import { cutIntoPieces } from '#shared/conversation/documents/turn.ts';
import { expect, test } from 'vitest';
import fc from 'fast-check';

const bytes = (text: string) => new TextEncoder().encode(text).length;

test('a short text is one JSON piece', () => {
  expect(cutIntoPieces('abc', 10)).toEqual(['abc']);
  expect(cutIntoPieces('', 10)).toEqual(['']);
});

test('JSON pieces join to the text, fit the limit and never split a surrogate pair', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.integer({ min: 4, max: 40 }),
      (text, limit) => {
        const pieces = cutIntoPieces(text, limit);

        expect(pieces.join('')).toBe(text);
        for (const piece of pieces) {
          expect(bytes(piece)).toBeLessThanOrEqual(limit);
          expect(piece.isWellFormed()).toBe(true);
        }
      },
    ),
  );
});
