import { estimateTextTokens } from '#shared/tokens/token-estimate.ts';
import type { Pin } from '../documents/head.ts';

/** Text of all pins as the context shows it, the oldest first; '' without pins. */
export function pinText(pins: readonly Pick<Pin, 'text'>[]): string {
  if (pins.length === 0) return '';
  return `Facts that stay word for word:\n${pins.map(({ text }) => `- ${text}\n`).join('')}`;
}

/** Uncalibrated tokens of all pins together in the context. */
export const pinTokens = (pins: readonly Pick<Pin, 'text'>[]): number =>
  estimateTextTokens(pinText(pins), 'character-class');
