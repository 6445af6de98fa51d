import type { ArchivedItem } from '#shared/conversation/documents/snapshot.ts';
import { contentWords } from '#shared/compaction/facts/speech/content-words.ts';
import { ledgerConstants } from '../ledger-constants.ts';
import { estimateTextTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import { lastSource } from '../items/statement.ts';

/** What an item costs beside its text; it keeps scraps from winning by being short. */
const ITEM_TOKENS = 4;
/** What a word without a fact is worth: a sentence of ten words as much as a number. */
const WORD_WEIGHT = 0.2;

export const itemTokens = (text: string, counting: TokenCounting): number =>
  estimateTextTokens(text, counting) + ITEM_TOKENS;

/** What the words of a text are worth beside the facts in it. */
export const wordWeight = (text: string): number => WORD_WEIGHT * contentWords(text).length;

/** What a unit of weight is worth in an item: less in a long one and in an old one. */
export function uniqueShare(
  item: ArchivedItem,
  { newestSeq, counting }: { newestSeq: number; counting: TokenCounting },
): number {
  const age = Math.max(0, newestSeq - lastSource(item));
  const youth = 1 / (1 + age / ledgerConstants.knowledgeHalfAgeTurns.value);
  return youth / itemTokens(item.text, counting);
}
