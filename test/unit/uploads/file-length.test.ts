import { fileLength } from '#shared/uploads/file-types.ts';
import { describe, expect, test } from 'vitest';

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
});
