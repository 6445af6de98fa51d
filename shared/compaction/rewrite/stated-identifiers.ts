import { extractFacts } from '../facts/index/extract-facts.ts';
import type { Fact, FactKind } from '../facts/index/fact.ts';
import { snapshotConstants } from '#shared/compaction/snapshot-constants.ts';

/** What the user wrote in a turn. */
export interface StatedText {
  seq: number;
  text: string;
}

const identifying: ReadonlySet<FactKind> = new Set(['identifier', 'link', 'email', 'phone']);

const digitsIn = (text: string): number => text.replaceAll(/\D/g, '').length;

/** Of `100,000-150,000 won` six: a range is two numbers. */
const digitsOfLongest = (text: string): number =>
  Math.max(0, ...(text.match(/\d[\d.,]*/g) ?? []).map(digitsIn));

/** The digits of a date, or of the longest number of an amount; 0 for other facts. */
function countedDigits({ kind, text }: Fact): number {
  if (kind === 'date') return digitsIn(text);
  const isCounted = kind === 'number' || kind === 'amount' || kind === 'quantity';
  return isCounted ? digitsOfLongest(text) : 0;
}

/** Dates and numbers with many digits are as good as identifiers; years and small amounts are none. */
const isIdentifier = (fact: Fact): boolean =>
  fact.tier === 1 &&
  (identifying.has(fact.kind) || countedDigits(fact) >= snapshotConstants.identifierDigits.value);

/**
 * What the user stated and nobody can work out again: order numbers, contacts, links, and numbers, amounts
 * and dates of five digits or more; each once, in the order of first saying. What the user only shows
 * (code, quoted lines) is not stated. Linear.
 */
export const statedIdentifiers = (texts: readonly StatedText[]): Fact[] =>
  extractFacts(texts.map((stated) => ({ ...stated, speaker: 'user', at: new Date(0) }))).filter(
    isIdentifier,
  );
