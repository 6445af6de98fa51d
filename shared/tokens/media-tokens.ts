import { isRouted } from '#shared/routing/routing.ts';
import { modelName } from '../models/model-entry.ts';
import { pdfPages, wavSeconds } from './media-length.ts';
import { tokenConstants } from './token-constants.ts';

/** Gemini changed the price of media once so far: with the third generation. */
const mediaFamilies = ['gemini-2.5', 'gemini-3'] as const;
type OneFamily = (typeof mediaFamilies)[number];

/** `any`: which model answers is not known yet, so a part counts as what it costs at most. */
export type MediaFamily = OneFamily | 'any';

/** The family whose media prices `model` has; unknown models count as the older family. */
export function findMediaFamily(model: string): MediaFamily {
  if (isRouted(model)) return 'any';
  return modelName(model).startsWith('gemini-3') ? 'gemini-3' : 'gemini-2.5';
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
    return (isThird ? tokenConstants.audioTokensGemini3 : tokenConstants.audioTokens).value;
  const perSecond = isThird ? tokenConstants.audioSecondGemini3 : tokenConstants.audioSecond;
  return Math.ceil(seconds) * perSecond.value;
}

function pdfTokens({ data, length }: Media): number {
  const pages = length?.pages ?? pdfPages(data);
  return pages === undefined
    ? tokenConstants.pdfTokens.value
    : pages * tokenConstants.pdfPageTokens.value;
}

function tokensIn(media: Media): number {
  const { data, family } = media;
  const isThird = family === 'gemini-3';
  const mimeType = media.mimeType ?? '';
  if (mimeType.startsWith('image/'))
    return (isThird ? tokenConstants.imageTokensGemini3 : tokenConstants.imageTokens).value;
  if (mimeType.startsWith('audio/')) return audioTokens(media);
  if (mimeType.startsWith('video/'))
    return (isThird ? tokenConstants.videoTokensGemini3 : tokenConstants.videoTokens).value;
  if (mimeType === 'application/pdf' || data === '') return pdfTokens(media);
  return (data.length * 0.75 * tokenConstants.inlineBytesWeight.value) / 100;
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
