import { modelName } from './model-name.ts';
import { tokenConstants } from './token-constants.ts';

/** Gemini changed the price of media once so far: with the third generation. */
export type MediaFamily = 'gemini-2.5' | 'gemini-3';

/** The family whose media prices `model` has; unknown models count as the older family. */
export function mediaFamilyOf(model: string): MediaFamily {
  return modelName(model).startsWith('gemini-3') ? 'gemini-3' : 'gemini-2.5';
}

/**
 * Tokens of a media part by kind. Constants, because neither pages nor seconds can be read from the
 * encoded bytes; any other inline file by its size, a file of unknown kind behind a URI like a PDF.
 */
export function mediaTokens(media: {
  mimeType: string | undefined;
  /** Length of the base64 text; 0 for a file behind a URI. */
  base64Length: number;
  family: MediaFamily;
}): number {
  const isThird = media.family === 'gemini-3';
  const mimeType = media.mimeType ?? '';
  if (mimeType.startsWith('image/'))
    return (isThird ? tokenConstants.imageTokensGemini3 : tokenConstants.imageTokens).value;
  if (mimeType.startsWith('audio/'))
    return (isThird ? tokenConstants.audioTokensGemini3 : tokenConstants.audioTokens).value;
  if (mimeType.startsWith('video/'))
    return (isThird ? tokenConstants.videoTokensGemini3 : tokenConstants.videoTokens).value;
  if (mimeType === 'application/pdf' || media.base64Length === 0)
    return tokenConstants.pdfTokens.value;
  return (media.base64Length * 0.75 * tokenConstants.inlineBytesWeight.value) / 100;
}
