import { pdfPages, wavSeconds } from '../tokens/media-length.ts';
import { fileFamily } from './file-types.ts';

/** Bytes of a second of speech or music as phones record it, 128 kbit/s; a heuristic. */
const AUDIO_BYTES_PER_SECOND = 16_000;

/** Bytes at the beginning of a file that tell its length: a WAV header, or the first pages of a PDF. */
export const LENGTH_BYTES = 768 * 1_024;

/** The last 34 bytes of FLAC's first block: 20 bits of samples a second, 36 bits of samples. */
function flacSeconds(bytes: Uint8Array): number | undefined {
  if (String.fromCharCode(...bytes.subarray(0, 4)) !== 'fLaC' || bytes.length < 26)
    return undefined;
  const at = (index: number) => bytes[index] ?? 0;
  const rate = at(18) * 4_096 + at(19) * 16 + Math.floor(at(20) / 16);
  const samples =
    (at(21) % 16) * 2 ** 32 + at(22) * 2 ** 24 + at(23) * 2 ** 16 + at(24) * 256 + at(25);
  return rate === 0 || samples === 0 ? undefined : samples / rate;
}

/** Arguments of one call: engines take some ten thousand. */
const CHUNK = 32_768;

function base64Of(bytes: Uint8Array): string {
  let text = '';
  for (let start = 0; start < bytes.length; start += CHUNK)
    text += String.fromCharCode(...bytes.subarray(start, start + CHUNK));
  return btoa(text);
}

/** How long a WAV file is whose beginning is known: its header tells the bytes of a second. */
function wholeWavSeconds(bytes: Uint8Array, sizeBytes: number): number | undefined {
  const known = wavSeconds(base64Of(bytes));
  return known === undefined || known === 0 ? undefined : (known * sizeBytes) / bytes.length;
}

/**
 * The length of a file by its first bytes (`LENGTH_BYTES`, or all) and its size: pages of a PDF, undefined
 * where they are compressed; seconds of a recording, by its header or by the bytes of a usual second.
 */
export function fileLength(file: { mimeType: string; sizeBytes: number; bytes: Uint8Array }): {
  pages?: number;
  seconds?: number;
} {
  const { mimeType, sizeBytes, bytes } = file;
  const family = fileFamily(mimeType);
  if (family === 'pdf') {
    const found = pdfPages(base64Of(bytes));
    return found === undefined ? {} : { pages: Math.ceil((found * sizeBytes) / bytes.length) };
  }
  if (family !== 'audio') return {};
  const told = wholeWavSeconds(bytes, sizeBytes) ?? flacSeconds(bytes);
  return { seconds: Math.ceil(told ?? sizeBytes / AUDIO_BYTES_PER_SECOND) };
}
