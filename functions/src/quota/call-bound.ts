import { estimatePromptTokens } from '#shared/tokens/token-estimate.ts';
import type { ModelRequest } from '#shared/ports/ports.ts';
import { callCostMicros, type ModelsConfig } from '../models/models-in-use.ts';

/** What a call that names no bound of its answer is taken to write, tokens: several times a condensed output. */
const ASSUMED_OUTPUT_TOKENS = 8_192;

/** Tokens and millionths of a dollar that a call takes at most: its prompt uncached, and the longest answer. */
export const callBound = (config: ModelsConfig, request: ModelRequest) =>
  callEstimate(config, request, request.maxOutputTokens ?? ASSUMED_OUTPUT_TOKENS);

/** The same with an answer of so many tokens. */
export function callEstimate(config: ModelsConfig, request: ModelRequest, outputTokens: number) {
  const promptTokens = estimatePromptTokens(request, 'character-class');
  const call = { model: request.model, promptTokens, cachedTokens: 0, outputTokens };
  return { tokens: promptTokens + outputTokens, costMicros: callCostMicros(config, call) };
}
