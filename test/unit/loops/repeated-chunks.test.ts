import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CHUNK_TIMES, RepeatedChunks, WINDOW_CHARACTERS } from '#shared/loops/repeated-chunks.ts';
import { CHUNK_CHARACTERS } from '#shared/loops/rolling-hash.ts';

/** The same by the texts themselves, in lists: how often each chunk stands, as each character completes it. */
function timesByTexts(text: string): number[] {
  const placesOf = new Map<string, number[]>();
  return text.split('').map((_, place) => {
    if (place < CHUNK_CHARACTERS - 1) return 0;
    const chunk = text.slice(place + 1 - CHUNK_CHARACTERS, place + 1);
    const oldest = place - (WINDOW_CHARACTERS - CHUNK_CHARACTERS);
    const places = (placesOf.get(chunk) ?? []).filter((other) => other > oldest);
    const last = places.at(-1) ?? Number.NEGATIVE_INFINITY;
    if (place - last >= CHUNK_CHARACTERS) places.push(place);
    placesOf.set(chunk, places.slice(-CHUNK_TIMES));
    return Math.min(places.length, CHUNK_TIMES);
  });
}

const timesByHashes = (text: string, chunks = new RepeatedChunks()) =>
  text.split('').map((character) => chunks.take(character.charCodeAt(0)));

/** Pieces that come again, between others that may: over several windows. */
const repetitiveText = fc
  .array(fc.tuple(fc.stringMatching(/^[abc ]{1,90}$/), fc.integer({ min: 1, max: 30 })), {
    minLength: 1,
    maxLength: 5,
  })
  .chain((pieces) =>
    fc
      .array(fc.nat({ max: pieces.length - 1 }), { minLength: 1, maxLength: 14 })
      .map((order) => order.map((i) => pieces[i]?.[0].repeat(pieces[i]?.[1] ?? 0)).join('')),
  );

test('the chunk counter counts each chunk’s separate occurrences in the window', () => {
  fc.assert(
    fc.property(repetitiveText, (text) => {
      expect(timesByHashes(text)).toEqual(timesByTexts(text));
    }),
    { numRuns: 150 },
  );
});

test('the chunk counter remembers only the window, however long the text', () => {
  const chunk = 'The harbour is quiet in the morning, and so am I.!';
  const between = (characters: number) =>
    Array.from({ length: characters }, (_, i) => String.fromCharCode(300 + i)).join('');
  const timesAfter = (characters: number) =>
    timesByHashes(`${chunk}${between(characters)}${chunk}`).at(-1);

  expect(timesAfter(WINDOW_CHARACTERS - 2 * CHUNK_CHARACTERS - 1)).toBe(2);
  expect(timesAfter(WINDOW_CHARACTERS)).toBe(1);
  expect(timesAfter(20_000)).toBe(1);
});
