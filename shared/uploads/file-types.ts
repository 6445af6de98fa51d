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
