import { pdfPages, wavSeconds } from '../tokens/media-tokens.ts';

/** What a file is to a model: each family has its own price, and text is said as text. */
type FileFamily = 'image' | 'pdf' | 'audio' | 'text';

/** Media types that Gemini takes, and what they are. A GIF is none of them. */
const FAMILIES: ReadonlyMap<string, FileFamily> = new Map([
  ['image/png', 'image'],
  ['image/jpeg', 'image'],
  ['image/webp', 'image'],
  ['image/heic', 'image'],
  ['image/heif', 'image'],
  ['application/pdf', 'pdf'],
  ['audio/mpeg', 'audio'],
  ['audio/mp3', 'audio'],
  ['audio/wav', 'audio'],
  ['audio/ogg', 'audio'],
  ['audio/mp4', 'audio'],
  ['audio/m4a', 'audio'],
  ['audio/aac', 'audio'],
  ['audio/flac', 'audio'],
  ['application/json', 'text'],
]);

/** The media types that may be uploaded, for messages: any text besides. */
export const FILE_TYPES: readonly string[] = [...FAMILIES.keys(), 'text/*'];

const escaped = (text: string) => text.replaceAll(/[.+]/g, String.raw`\$&`);

/** Matches them. */
export const FILE_TYPE_PATTERN = new RegExp(
  `^(?:${[...FAMILIES.keys()].map(escaped).join('|')}|text/[\\w.+-]+)$`,
);

/** The family of a media type; undefined for one that may not be uploaded. */
export const fileFamily = (mimeType: string): FileFamily | undefined =>
  /^text\/[\w.+-]+$/.test(mimeType) ? 'text' : FAMILIES.get(mimeType);

/** The first bytes of a file as one character each, so that they compare as text. */
const latin1 = (bytes: Uint8Array, length: number) =>
  String.fromCharCode(...bytes.subarray(0, length));

/** How many bytes at the beginning of a file say what it is. */
const HEAD_BYTES = 1_024;

/** An MPEG frame begins with eleven bits that are set. */
const isMpegFrame = (head: string) =>
  head.charCodeAt(0) === 0xff && (head.charCodeAt(1) & 0xe0) === 0xe0;

const isContainer = (head: string) => head.slice(4, 8) === 'ftyp';
const isRiff = (head: string, kind: string) =>
  head.startsWith('RIFF') && head.slice(8, 12) === kind;
const isMp3 = (head: string) => head.startsWith('ID3') || isMpegFrame(head);
const isHeif = (head: string) => isContainer(head) && /^(?:hei|hev|mif1|msf1)/.test(head.slice(8));

const SIGNATURES: Readonly<Record<string, (head: string) => boolean>> = {
  'image/png': (head) => head.startsWith('\x89PNG\r\n\x1a\n'),
  'image/jpeg': (head) => head.startsWith('\xff\xd8\xff'),
  'image/webp': (head) => isRiff(head, 'WEBP'),
  'image/heic': isHeif,
  'image/heif': isHeif,
  // Readers take one that begins a little late.
  'application/pdf': (head) => head.includes('%PDF-'),
  'audio/mpeg': isMp3,
  'audio/mp3': isMp3,
  'audio/wav': (head) => isRiff(head, 'WAVE'),
  'audio/ogg': (head) => head.startsWith('OggS'),
  'audio/mp4': isContainer,
  'audio/m4a': isContainer,
  'audio/aac': (head) => isMpegFrame(head) || isContainer(head),
  'audio/flac': (head) => head.startsWith('fLaC') || head.startsWith('ID3'),
};

/**
 * Whether the first bytes of a file (1,024, or all it has) can be those of its media type. Text has no mark:
 * it is taken unless it holds a NUL byte.
 */
export function looksLike(mimeType: string, bytes: Uint8Array): boolean {
  if (fileFamily(mimeType) === 'text') return !bytes.subarray(0, HEAD_BYTES).includes(0);
  return SIGNATURES[mimeType]?.(latin1(bytes, HEAD_BYTES)) ?? false;
}

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
