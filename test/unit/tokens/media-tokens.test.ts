import { pdfPages, wavSeconds, findMediaFamily, mediaTokens } from '#shared/tokens/media-tokens.ts';
import { describe, expect, test } from 'vitest';

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

describe('pages of a PDF', () => {
  test.each([1, 3, 120])('PDF pages are counted where they can be read: %i', (pages) => {
    expect(pdfPages(pdf(pages))).toBe(pages);
  });

  test.each([
    ['compressed', base64('%PDF-1.7\n/Type /ObjStm')],
    ['of no PDF', base64('/Type /Page')],
    ['of what is no base64', '%%%%'],
    ['of nothing', ''],
  ])('PDF pages are unknown: %s', (_, data) => {
    expect(pdfPages(data)).toBeUndefined();
  });
});

describe('seconds of a WAV file', () => {
  test.each([
    [1, 32_000],
    [90, 16_000],
  ])('WAV seconds are read from the header: %i s of %i bytes', (seconds, bytesPerSecond) => {
    expect(wavSeconds(wav(seconds, bytesPerSecond))).toBeCloseTo(seconds, 2);
  });

  test.each([
    ['another format', base64('ID3'.padEnd(60))],
    ['no rate', wav(0, 0)],
    ['nothing', ''],
  ])('WAV seconds are unknown for %s', (_, data) => {
    expect(wavSeconds(data)).toBeUndefined();
  });
});

test.each([
  ['a PDF by its pages', 'application/pdf', pdf(3), 'gemini-2.5', 774],
  ['a WAV file by its seconds', 'audio/wav', wav(10), 'gemini-2.5', 320],
  ['a WAV file of Gemini 3', 'audio/wav', wav(10), 'gemini-3', 250],
  ['audio of unknown length by a constant', 'audio/mp3', base64('ID3'), 'gemini-2.5', 1_920],
  ['a file behind a URI by a constant', 'application/pdf', '', 'gemini-3', 2_580],
] as const)('media tokens: %s', (...[, mimeType, data, family, tokens]) => {
  expect(mediaTokens({ mimeType, data, family })).toBe(tokens);
});

test.each(['image/png', 'audio/mp3', 'video/mp4', 'application/pdf', 'text/csv'])(
  'media cost their maximum where the model is unknown: %s',
  (mimeType) => {
    const input = { mimeType, data: 'AAAA' };
    const each = (['gemini-2.5', 'gemini-3'] as const).map((family) =>
      mediaTokens({ ...input, family }),
    );

    expect(mediaTokens({ ...input, family: findMediaFamily('auto') })).toBe(Math.max(...each));
  },
);
