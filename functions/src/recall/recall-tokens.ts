import type { Head } from '#shared/conversation/documents/head.ts';
import type { Config } from '../config.ts';

/** Of the room that a small window leaves beside context and message. */
const FREE_FRACTION = 0.1;

/**
 * What may be brought back of folded turns for a message: the least of what deployment, conversation and message say,
 * and never so much that the message would not fit. The profile `gemini-cli` is what it is: nothing.
 */
export const recallTokens = (
  { RECALL_TOKENS }: Pick<Config, 'RECALL_TOKENS'>,
  { settings, profile }: Pick<Head, 'settings' | 'profile'>,
  input: { request?: { recallTokens?: number }; freeTokens?: number } = {},
): number => {
  if (profile === 'gemini-cli') return 0;
  const { request, freeTokens = Infinity } = input;
  const asked = Math.min(settings.recallTokens ?? Infinity, request?.recallTokens ?? Infinity);
  return Math.max(0, Math.min(RECALL_TOKENS, asked, Math.floor(FREE_FRACTION * freeTokens)));
};
