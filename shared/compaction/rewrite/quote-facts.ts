import { factId, type Fact } from '../facts/index/fact.ts';
import { chooseQuotes } from '../ledger/repair/choose-sentences.ts';
import {
  candidatesFor,
  lineTokens,
  type CandidateInput,
} from '../ledger/repair/repair-candidates.ts';
import { verbatimText } from '../ledger/items/verbatim-item.ts';
import type { TokenCounting } from '#shared/tokens/token-estimate.ts';

interface Quoted {
  /** Lines of a list, in the order of the turns. */
  lines: string[];
  /** The facts that the lines say. */
  quoted: Fact[];
  /** Those for which there was no room. */
  leftOut: Fact[];
}

/**
 * Lines that quote what the user stated, within a room: the sentences that bring the most weight a token,
 * or only words around the facts where that brings more of them.
 */
export function quoteFacts(
  facts: readonly Fact[],
  { roomTokens, counting }: { roomTokens: number; counting: TokenCounting },
): Quoted {
  // What has no room by itself, such as a very long link, need not be read again.
  const fitting = facts.filter((fact) => lineTokens(fact, counting) <= roomTokens);
  const wanted = new Map(fitting.map((fact) => [factId(fact), fact]));
  const input: CandidateInput = { wanted, profile: 'coding', counting, dayOf: () => undefined };
  const weights = new Map([...wanted].map(([id, { weight }]) => [id, weight]));
  const { choice } = chooseQuotes(weights, (form) => candidatesFor(input, form), roomTokens);
  const isQuoted = (fact: Fact): boolean => choice.covered.has(factId(fact));
  return {
    lines: choice.chosen
      .toSorted((one, other) => one.sentence.seq - other.sentence.seq)
      .map(({ sentence }) => `- ${verbatimText(sentence)}`),
    quoted: facts.filter(isQuoted),
    leftOut: facts.filter((fact) => !isQuoted(fact)),
  };
}
