import { estimateTextTokens } from '#shared/tokens/token-estimate.ts';

/** The memory of a prompt as text, by whose it is; '' where there is none. */
export interface MemoryTexts {
  app: string;
  user: string;
}

/** Uncalibrated tokens of a text of memory. */
export const memoryTextTokens = (text: string): number =>
  estimateTextTokens(text, 'character-class');

/** Uncalibrated tokens of the memory that a prefix has. */
export const memoryTokens = ({ app, user }: MemoryTexts): number =>
  memoryTextTokens(app) + memoryTextTokens(user);
