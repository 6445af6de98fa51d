import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRepetitionDetector } from '#shared/loops/repetition-detector.ts';
import { createProseReader } from '#shared/loops/prose-characters.ts';
import { ANCHOR_SPAN, RepeatedAnchors } from '#shared/loops/repeated-anchors.ts';
import { RepeatedChunks, WINDOW_CHARACTERS } from '#shared/loops/repeated-chunks.ts';
import { CHUNK_CHARACTERS } from '#shared/loops/rolling-hash.ts';
import { searchCases } from '#test/support/search-cases.ts';

const codesOf = (text: string) => Array.from({ length: text.length }, (_, i) => text.charCodeAt(i));

/** Characters that stand nowhere else. */
const unique = (length: number, from = 1_000) =>
  String.fromCharCode(...Array.from({ length }, (_, i) => from + i));

const noticed = (text: string) => {
  const anchors = new RepeatedAnchors();
  return codesOf(text).findIndex((code) => anchors.take(code));
};

test('the anchor search notices a repetition within the window before its end', () => {
  const again = unique(CHUNK_CHARACTERS + ANCHOR_SPAN - 1, 500);

  for (const between of [0, 1, 7, 500, 4_000]) {
    const text = `${unique(40, 9_000)}${again}${unique(between)}${again}`;
    expect(noticed(text)).toBeGreaterThan(40 + again.length + between);
  }
});

test('the anchor search notices nothing in text without repetition', () => {
  expect(noticed(unique(50_000))).toBe(-1);
});

test('the anchor search forgets text beyond the window', () => {
  const again = unique(200, 500);

  expect(noticed(`${again}${unique(WINDOW_CHARACTERS)}${again}`)).toBe(-1);
});

test('the anchor search returns the window’s characters in order', () => {
  for (const length of [10, 1_024, 1_025, 5_000, 8_192, 30_000]) {
    const anchors = new RepeatedAnchors();
    const codes = codesOf(unique(length));
    for (const code of codes) anchors.take(code);

    expect(anchors.characters()).toEqual(codes.slice(-WINDOW_CHARACTERS));
  }
});

/** What a detector says after each character that looks at every chunk from the beginning. */
function closelySeen(text: string): { isRepetition: boolean; held: number }[] {
  const markOf = createProseReader();
  let chunks = new RepeatedChunks();
  let [held, times, isRepetition] = [0, 0, false];
  return codesOf(text).map((code) => {
    const mark = isRepetition ? 'skipped' : markOf(code);
    if (mark === 'outside') [chunks, times] = [new RepeatedChunks(), 0];
    if (mark === 'read') [times, isRepetition] = [chunks.take(code), chunks.isRepetition];
    held = isRepetition || (times >= 3 && held < WINDOW_CHARACTERS) ? held + 1 : 0;
    return { isRepetition, held };
  });
}

const phrase = fc.oneof(
  fc.stringMatching(/^[ab ]{1,20}$/),
  fc.stringMatching(/^[a-z .]{20,120}$/),
  fc.constantFrom('\n', '```\n', '| a | b |\n', '---------- '),
);
const texts = fc
  .array(fc.tuple(phrase, fc.integer({ min: 1, max: 40 })), { minLength: 1, maxLength: 6 })
  .map((runs) => runs.map(([text, times]) => text.repeat(times)).join(''));

test('the anchor search finds a loop at the same character as a full chunk search', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const detector = createRepetitionDetector();
      closelySeen(text).forEach(({ isRepetition, held }, place) => {
        expect(detector.see(text.charAt(place))).toBe(isRepetition);
        // What repeats itself for a few characters alone is nobody's chant, and need not be held.
        expect(held >= ANCHOR_SPAN ? [held] : [0, held]).toContain(detector.heldCharacters());
      });
    }),
    { numRuns: searchCases(300) },
  );
});
