import { isRouted } from '#shared/models/routing.ts';
import { modelName } from '../models/model-entry.ts';
import { tokenConstants } from './token-constants.ts';

/** Gemini changed the price of media once so far: with the third generation. */
const mediaFamilies = ['gemini-2.5', 'gemini-3'] as const;
type OneFamily = (typeof mediaFamilies)[number];

/** `any`: which model answers is not known yet, so a part counts as what it costs at most. */
export type MediaFamily = OneFamily | 'any';

/** Gemini of the third generation or later, `gemini-flash-latest` too. */
const sinceThird = /^gemini-(?![12]\b)/;

/** The family whose media prices `model` has; models of other vendors count as the older family. */
export function findMediaFamily(model: string): MediaFamily {
  if (isRouted(model)) return 'any';
  return sinceThird.test(modelName(model)) ? 'gemini-3' : 'gemini-2.5';
}

/** The length of a file behind a URI, where it is known: pages of a PDF, seconds of a recording. */
interface MediaLength {
  pages?: number | undefined;
  seconds?: number | undefined;
}

interface Media {
  mimeType: string | undefined;
  /** The file as base64; '' for a file behind a URI. */
  data: string;
  family: OneFamily;
  length?: MediaLength | undefined;
}

function audioTokens({ data, family, length }: Media): number {
  const isThird = family === 'gemini-3';
  const seconds = length?.seconds ?? wavSeconds(data);
  if (seconds === undefined)
    return isThird ? tokenConstants.audioTokensGemini3 : tokenConstants.audioTokens;
  const perSecond = isThird ? tokenConstants.audioSecondGemini3 : tokenConstants.audioSecond;
  return Math.ceil(seconds) * perSecond;
}

function pdfTokens({ data, length }: Media): number {
  const pages = length?.pages ?? pdfPages(data);
  return pages === undefined ? tokenConstants.pdfTokens : pages * tokenConstants.pdfPageTokens;
}

function tokensIn(media: Media): number {
  const { data, family } = media;
  const isThird = family === 'gemini-3';
  const mimeType = media.mimeType ?? '';
  if (mimeType.startsWith('image/'))
    return isThird ? tokenConstants.imageTokensGemini3 : tokenConstants.imageTokens;
  if (mimeType.startsWith('audio/')) return audioTokens(media);
  if (mimeType.startsWith('video/'))
    return isThird ? tokenConstants.videoTokensGemini3 : tokenConstants.videoTokens;
  if (mimeType === 'application/pdf' || data === '') return pdfTokens(media);
  return (data.length * 0.75 * tokenConstants.inlineBytesWeight) / 100;
}

/**
 * Tokens of a media part by kind: PDFs by their pages and WAV files by their seconds where those can be
 * read, else constants; any other inline file by its size, a file of unknown kind behind a URI like a PDF.
 */
export const mediaTokens = ({
  family,
  ...media
}: Omit<Media, 'family'> & { family: MediaFamily }): number =>
  family === 'any'
    ? Math.max(...mediaFamilies.map((one) => tokensIn({ ...media, family: one })))
    : tokensIn({ ...media, family });

/** Base64 that is decoded to look for pages; what is longer is counted by its beginning. */
const MOST_DECODED = 1 << 20;

/** `RIFF`, sizes, `WAVE` and the chunk `fmt ` as nearly every file begins: bytes 28 to 31 are bytes a second. */
const WAV_HEADER_BASE64 = 60;
const WAV_BYTE_RATE_AT = 28;
const WAV_HEADER_BYTES = 44;

/** The first bytes of base64 as a binary string, at most `length` characters of it; '' if it is none. */
function decoded(base64: string, length: number): string {
  try {
    return atob(base64.slice(0, length - (length % 4)));
  } catch {
    return '';
  }
}

const bytesOf = (base64: string) => Math.floor((base64.replace(/=+$/, '').length * 3) / 4);

/**
 * Pages of a PDF by the page objects that can be read in it; undefined where they are compressed, as newer
 * writers do, or it is no PDF. A heuristic: replaced pages that an edited file still holds count too.
 */
export function pdfPages(base64: string): number | undefined {
  const text = decoded(base64, MOST_DECODED);
  if (!text.startsWith('%PDF-')) return undefined;
  const found = text.match(/\/Type\s*\/Page(?![A-Za-z])/g)?.length ?? 0;
  return found === 0 ? undefined : Math.ceil(found * Math.max(1, base64.length / MOST_DECODED));
}

/** Seconds of a WAV file by its header; undefined where that has another form. */
export function wavSeconds(base64: string): number | undefined {
  const header = decoded(base64, WAV_HEADER_BASE64);
  if (!header.startsWith('RIFF') || header.slice(8, 16) !== 'WAVEfmt ') return undefined;
  const bytesPerSecond = [0, 1, 2, 3].reduce(
    (sum, index) => sum + header.charCodeAt(WAV_BYTE_RATE_AT + index) * 256 ** index,
    0,
  );
  if (bytesPerSecond === 0) return undefined;
  return Math.max(0, bytesOf(base64) - WAV_HEADER_BYTES) / bytesPerSecond;
}
