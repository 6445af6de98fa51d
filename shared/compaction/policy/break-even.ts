/** What the tokens of a compaction and of the turns after it cost, all in the same unit. */
interface TokenPrices {
  /** A token of a prompt to the model of the conversation. */
  chatInput: number;
  /** A cached token of such a prompt, as a share of `chatInput`; above 0. */
  cachedFraction: number;
  summariserInput: number;
  summariserOutput: number;
}

/**
 * How prices relate to each other, whatever the model: summariser of the same family, an output token six
 * times a prompt token (Gemini 3; 2.5: eight), cached tokens at a tenth.
 */
export const USUAL_PRICES: TokenPrices = {
  chatInput: 1,
  cachedFraction: 0.1,
  summariserInput: 1,
  summariserOutput: 6,
};

/**
 * After how many turns a compaction has paid for itself, if every prompt were read from the cache: the
 * summariser reads N tokens and writes some, the next turn reads the S tokens after the swap anew, and
 * each turn saves N − S cached ones. `(Ps·N + Po·out + (1 − c)·P·S) / (c·P·(N − S))`; Infinity where
 * nothing is saved. A cold cache makes it pay earlier. Tokens without system instruction and tools, which
 * stay in the cache.
 */
export function breakEvenTurns(compaction: {
  tokensBefore: number;
  tokensAfter: number;
  /** What the summariser writes. */
  summaryTokens: number;
  prices: TokenPrices;
}): number {
  const { tokensBefore, tokensAfter, summaryTokens, prices } = compaction;
  const { chatInput, cachedFraction, summariserInput, summariserOutput } = prices;
  const savedTokens = tokensBefore - tokensAfter;
  if (savedTokens <= 0) return Infinity;
  const cost =
    summariserInput * tokensBefore +
    summariserOutput * summaryTokens +
    (1 - cachedFraction) * chatInput * tokensAfter;
  return cost / (cachedFraction * chatInput * savedTokens);
}
