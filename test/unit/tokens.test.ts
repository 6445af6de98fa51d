import { findMediaFamily, mediaTokens } from '#shared/tokens/media-tokens.ts';
import {
  estimateContentTokens,
  estimatePartTokens,
  estimateTextTokens,
} from '#shared/tokens/token-estimate.ts';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';

const base64 = (text: string) => Buffer.from(text, 'latin1').toString('base64');

const pdf = (pages: number, filler = '') =>
  base64(
    `%PDF-1.4\n1 0 obj << /Type /Pages /Count ${pages} >> endobj\n${'2 0 obj << /Type /Page /Parent 1 0 R >> endobj\n'.repeat(pages)}${filler}`,
  );

/** A header as recorders write it, and silence. */
function wav(seconds: number, bytesPerSecond = 32_000): string {
  const bytes = Buffer.alloc(44 + seconds * bytesPerSecond);
  bytes.write('RIFF', 0, 'latin1');
  bytes.write('WAVEfmt ', 8, 'latin1');
  bytes.writeUInt32LE(bytesPerSecond, 28);
  return bytes.toString('base64');
}

test.each([
  ['a PDF by its pages', 'application/pdf', pdf(3), 'gemini-2.5', 774],
  ['a WAV file by its seconds', 'audio/wav', wav(10), 'gemini-2.5', 320],
  ['a WAV file of Gemini 3', 'audio/wav', wav(10), 'gemini-3', 250],
  ['audio of unknown length by a constant', 'audio/mp3', base64('ID3'), 'gemini-2.5', 1_920],
  ['a file behind a URI by a constant', 'application/pdf', '', 'gemini-3', 2_580],
] as const)('media tokens: %s', (...[, mimeType, data, family, tokens]) => {
  expect(mediaTokens({ mimeType, data, family })).toBe(tokens);
});

test.each([
  ['', 0],
  ['abcde', 1],
  ['a b c', 2],
  ['ABCDEFGHIJ', 3],
  ['one two three', 3],
  ['12345', 5],
  ['{}{}{', 3],
  ['가나다라마바사아자차', 13],
  ['漢字', 3],
  ['😀', 2],
  ['\ud83d', 1],
  ['a', 1],
])('estimateTextTokens of %j is %i', (text, tokens) => {
  expect(estimateTextTokens(text, 'character-class')).toBe(tokens);
});

test.each([
  ['abcd', 1],
  ['abc', 0],
  ['1234', 1],
  ['字字字', 3],
  ['', 0],
])('estimateTextTokens in Gemini CLI’s rule gives %j %i tokens', (text, tokens) => {
  expect(estimateTextTokens(text, 'gemini-cli')).toBe(tokens);
});

describe('estimateContentTokens', () => {
  const response = { output: '字'.repeat(10_000) };

  test('estimateContentTokens counts a tool response like any other text', () => {
    const content = {
      role: 'user' as const,
      parts: [{ functionResponse: { name: 'read', response } }],
    };

    expect(estimateContentTokens(content, 'character-class')).toBeGreaterThanOrEqual(13_000);
    expect(estimateContentTokens(content, 'gemini-cli')).toBe(2_504);
  });

  test.each([
    ['an image before Gemini 3', 'image/png', 'gemini-2.5', 258],
    ['an image of Gemini 3', 'image/jpeg', 'gemini-3', 1_090],
    ['audio of Gemini 3', 'audio/mp3', 'gemini-3', 1_500],
    ['video', 'video/mp4', 'gemini-2.5', 15_780],
  ] as const)(
    'estimateContentTokens prices %s by a constant, inline and by URI',
    (...[, mimeType, mediaFamily, tokens]) => {
      const counting = { rule: 'character-class', mediaFamily } as const;
      const inlineData = { mimeType, data: 'A'.repeat(400_000) };
      const fileData = { mimeType, fileUri: 'gs://bucket/file' };

      expect(estimatePartTokens({ inlineData }, counting)).toBe(tokens);
      expect(estimatePartTokens({ fileData }, counting)).toBe(tokens);
    },
  );
});

test.each([
  ['gemini-2.5-flash', 'gemini-2.5'],
  ['gemini-3-flash', 'gemini-3'],
  ['gemini-4-argon', 'gemini-3'],
  ['models/gemini-flash-latest', 'gemini-3'],
  ['claude-sonnet-4-5', 'gemini-2.5'],
] as const)('media of %s have the prices of %s', (model, family) => {
  expect(findMediaFamily(model)).toBe(family);
});

test('a long text costs its characters, wherever the first non-ASCII one stands', () => {
  const run = fc.tuple(
    fc.constantFrom('a', '7', '{', ' ', 'é', '漢', '👋'),
    fc.nat({ max: 9_000 }),
  );
  const costOf = new Map<string, number>();
  const cost = (character: string) => {
    const known =
      costOf.get(character) ??
      estimateTextTokens(character.repeat(100_000), 'character-class') / 1e5;
    costOf.set(character, known);
    return known;
  };
  fc.assert(
    fc.property(fc.array(run, { maxLength: 6 }), (runs) => {
      const text = runs.map(([character, times]) => character.repeat(times)).join('');
      const expected = runs.reduce((sum, [character, times]) => sum + cost(character) * times, 0);

      expect(Math.abs(estimateTextTokens(text, 'character-class') - expected)).toBeLessThanOrEqual(
        1,
      );
    }),
    { numRuns: 50 },
  );
});
