import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isRepetitive } from '#shared/compaction/repetition.ts';
import { searchCases } from '#test/support/search-cases.ts';

const CHUNK = 50;
const LIMIT = 10;
const PERIODS = 5;

/** The same with every chunk as a text of its own. */
function repeatsChunk(text: string): boolean {
  const placesOf = new Map<string, number[]>();
  for (let index = 0; index + CHUNK <= text.length; index++) {
    const chunk = text.slice(index, index + CHUNK);
    const places = [...(placesOf.get(chunk) ?? []), index].slice(-LIMIT);
    placesOf.set(chunk, places);
    const [first = 0, last = 0] = [places[0], places.at(-1)];
    const isClose = (last - first) / (places.length - 1) <= 5 * CHUNK;
    const periods = new Set(places.slice(1).map((place, i) => text.slice(places[i], place)));
    const isLoop = isClose && periods.size <= PERIODS && new Set(chunk).size >= 4;
    if (places.length === LIMIT && isLoop) return true;
  }
  return false;
}

const phrase = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd', ' ', '予'), maxLength: 40 });
const texts = fc
  .array(fc.tuple(phrase, fc.integer({ min: 1, max: 30 })), { maxLength: 6 })
  .map((all) => all.map(([text, times]) => text.repeat(times)).join(''));

test('a text on one line loops exactly where one of its chunks does', () => {
  fc.assert(
    fc.property(texts, (text) => {
      expect(isRepetitive(text)).toBe(repeatsChunk(text));
    }),
    { numRuns: searchCases(2_000) },
  );
});
