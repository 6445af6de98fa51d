import { describe, expect, test } from 'vitest';
import { fileLength } from '#shared/uploads/file-length.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import { mediaPart } from '#shared/uploads/upload-parts.ts';

/** A WAV header of 16 kHz, mono, 16 bits: 32,000 bytes a second. */
function wavHeader(): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(32_000, 28);
  return header;
}

/** The first block of a FLAC file of 44.1 kHz. */
function flac(samples: number): Buffer {
  const bytes = Buffer.alloc(42);
  bytes.write('fLaC', 0);
  bytes.writeUIntBE(44_100 * 16, 18, 3);
  bytes.writeUInt32BE(samples, 22);
  return bytes;
}

const pdf = (pages: number) =>
  Buffer.from(`%PDF-1.4\n${'<< /Type /Page >>\n'.repeat(pages)}<< /Type /Pages >>`);

describe('the length of a file', () => {
  test('the length of a WAV file is read from header and size', () => {
    const bytes = Buffer.concat([wavHeader(), Buffer.alloc(100_000)]);

    expect(fileLength({ mimeType: 'audio/wav', sizeBytes: 3_200_044, bytes }).seconds).toBeCloseTo(
      100,
      -1,
    );
  });

  test('the length of a FLAC file is read from its samples', () => {
    const bytes = flac(44_100 * 90);

    expect(fileLength({ mimeType: 'audio/flac', sizeBytes: 5_000_000, bytes })).toEqual({
      seconds: 90,
    });
  });

  test('the length of other recordings is estimated from their size', () => {
    const file = { mimeType: 'audio/mpeg', sizeBytes: 1_600_000, bytes: Buffer.from('ID3') };

    expect(fileLength(file)).toEqual({ seconds: 100 });
  });

  test('the length of a PDF file is its pages', () => {
    const bytes = pdf(7);

    expect(fileLength({ mimeType: 'application/pdf', sizeBytes: bytes.length, bytes })).toEqual({
      pages: 7,
    });
  });

  test('a picture, and a PDF with compressed pages, has no length', () => {
    const bytes = Buffer.from('%PDF-1.7 all is compressed');
    const sizeBytes = bytes.length;

    expect(fileLength({ mimeType: 'application/pdf', sizeBytes, bytes })).toEqual({});
    expect(fileLength({ mimeType: 'image/png', sizeBytes, bytes })).toEqual({});
  });
});

const stored = { id: 'u', path: 'users/u/uploads/u', sizeBytes: 1_000 };
const tokens = (part: Parameters<typeof mediaPart>[0], mediaFamily: 'gemini-2.5' | 'gemini-3') =>
  estimateContentTokens(
    { role: 'user', parts: [mediaPart(part)] },
    { rule: 'character-class', mediaFamily },
  );

test.each([
  { file: 'a picture', part: { mimeType: 'image/png' }, older: 258, newer: 1_090 },
  {
    file: '7 pages',
    part: { mimeType: 'application/pdf', pages: 7 },
    older: 1_806,
    newer: 1_806,
  },
  { file: 'a PDF', part: { mimeType: 'application/pdf' }, older: 2_580, newer: 2_580 },
  {
    file: '100 s of sound',
    part: { mimeType: 'audio/ogg', seconds: 100 },
    older: 3_200,
    newer: 2_500,
  },
])('the meter counts $file by the family of the model', ({ part, older, newer }) => {
  expect(tokens({ ...stored, ...part }, 'gemini-2.5')).toBe(older);
  expect(tokens({ ...stored, ...part }, 'gemini-3')).toBe(newer);
});
