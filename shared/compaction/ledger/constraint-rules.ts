import { withoutQuotations } from '../facts/own-words.ts';
import { ledgerConstants } from '../ledger-constants.ts';
import { oneLine } from './item-text.ts';
import type { TurnEvidence } from './turn-evidence.ts';
import { shareIn, wordsOf } from './word-overlap.ts';

export type ConstraintRefusal =
  'NO_QUOTE' | 'QUOTE_TOO_SHORT' | 'QUOTE_NOT_OF_USER' | 'QUOTE_NOT_LATER';

export type UserStatement =
  /** `sources`: the cited turns whose user says the quote. */
  { ok: true; quote: string; sources: number[] } | { ok: false; reason: ConstraintRefusal };

const wideScripts = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/gu;

/** Characters of a quote; those that stand for a syllable or a word count twice. */
const weightOf = (quote: string): number =>
  Array.from(quote).length + (quote.match(wideScripts)?.length ?? 0);

interface Cited {
  quote: string | undefined;
  sources: readonly number[];
}

/**
 * The turns in which the user says a quote himself. Where the quote has a quotation in it, that one may be of
 * others, but more of the quote than that must be his.
 */
function holdersOf(quote: string, sources: readonly number[], evidence: TurnEvidence): number[] {
  const own = oneLine(withoutQuotations(quote));
  if (own === quote) return sources.filter((seq) => evidence.unquoted(seq).includes(quote));
  return 2 * weightOf(own) > weightOf(quote)
    ? sources.filter((seq) => evidence.user(seq).includes(quote))
    : [];
}

function quotedTurns(
  { quote, sources }: Cited,
  evidence: TurnEvidence,
  minimumCharacters: number,
): UserStatement {
  if (quote === undefined) return { ok: false, reason: 'NO_QUOTE' };
  const holders = holdersOf(quote, sources, evidence);
  if (holders.length === 0) return { ok: false, reason: 'QUOTE_NOT_OF_USER' };
  const isEnough =
    weightOf(quote) >= minimumCharacters || holders.some((seq) => evidence.user(seq) === quote);
  return isEnough
    ? { ok: true, quote, sources: holders }
    : { ok: false, reason: 'QUOTE_TOO_SHORT' };
}

/** Whether the user says himself, in a cited turn, what a new constraint quotes. */
export const statedByUser = (cited: Cited, evidence: TurnEvidence): UserStatement =>
  quotedTurns(cited, evidence, ledgerConstants.constraintQuoteCharacters.value);

/** The same for the change or the end of a constraint: the user must say it after turn `lastSource`. */
export function withdrawnByUser(
  cited: Cited,
  evidence: TurnEvidence,
  lastSource: number,
): UserStatement {
  const stated = quotedTurns(cited, evidence, ledgerConstants.withdrawalQuoteCharacters.value);
  if (!stated.ok) return stated;
  const sources = stated.sources.filter((seq) => seq > lastSource);
  return sources.length === 0 ? { ok: false, reason: 'QUOTE_NOT_LATER' } : { ...stated, sources };
}

/**
 * What a constraint says: the model's wording where nearly all of its words are the user's (of the cited
 * turns, or of `earlierText`), else the quote itself. So no text of a tool becomes a rule behind a quote
 * that says something else, whole or as a further clause. A good paraphrase in other words is replaced too.
 */
export function constraintText(
  text: string,
  stated: { quote: string; sources: readonly number[] },
  { evidence, earlierText = '' }: { evidence: TurnEvidence; earlierText?: string },
): string {
  const users = new Set(wordsOf(earlierText));
  for (const seq of stated.sources) for (const word of evidence.userWords(seq)) users.add(word);
  const words = wordsOf(text);
  const others = words.size * (1 - shareIn(words, users));
  return Math.round(others) <= ledgerConstants.constraintForeignWords.value ? text : stated.quote;
}
