import { pdfPages, wavSeconds } from './media-length.ts';
import { modelName } from './model-name.ts';
import { tokenConstants } from './token-constants.ts';

/** Gemini changed the price of media once so far: with the third generation. */
export type MediaFamily = 'gemini-2.5' | 'gemini-3';

/** The family whose media prices `model` has; unknown models count as the older family. */
export function mediaFamilyOf(model: string): MediaFamily {
  return modelName(model).startsWith('gemini-3') ? 'gemini-3' : 'gemini-2.5';
}

function audioTokens({ data, family }: { data: string; family: MediaFamily }): number {
  const isThird = family === 'gemini-3';
  const seconds = wavSeconds(data);
  if (seconds === undefined)
    return (isThird ? tokenConstants.audioTokensGemini3 : tokenConstants.audioTokens).value;
  const perSecond = isThird ? tokenConstants.audioSecondGemini3 : tokenConstants.audioSecond;
  return Math.ceil(seconds) * perSecond.value;
}

function pdfTokens(data: string): number {
  const pages = pdfPages(data);
  return pages === undefined
    ? tokenConstants.pdfTokens.value
    : pages * tokenConstants.pdfPageTokens.value;
}

/**
 * Tokens of a media part by kind: PDFs by their pages and WAV files by their seconds where those can be
 * read, else constants; any other inline file by its size, a file of unknown kind behind a URI like a PDF.
 */
export function mediaTokens(media: {
  mimeType: string | undefined;
  /** The file as base64; '' for a file behind a URI. */
  data: string;
  family: MediaFamily;
}): number {
  const { data, family } = media;
  const isThird = family === 'gemini-3';
  const mimeType = media.mimeType ?? '';
  if (mimeType.startsWith('image/'))
    return (isThird ? tokenConstants.imageTokensGemini3 : tokenConstants.imageTokens).value;
  if (mimeType.startsWith('audio/')) return audioTokens({ data, family });
  if (mimeType.startsWith('video/'))
    return (isThird ? tokenConstants.videoTokensGemini3 : tokenConstants.videoTokens).value;
  if (mimeType === 'application/pdf' || data === '') return pdfTokens(data);
  return (data.length * 0.75 * tokenConstants.inlineBytesWeight.value) / 100;
}
