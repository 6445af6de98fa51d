import type { Fact } from '#shared/compaction/facts/index/fact.ts';
import { repairConstants } from '../repair/repair-constants.ts';
import type { DoubtfulItem } from './precision-gate.ts';

/** What one more call of the summariser is asked for. */
export interface Correction {
  /** Items with values that no folded turn holds. */
  items: DoubtfulItem[];
  /** Facts that a later answer needs and no item says, the weightiest first. */
  missing: Fact[];
}

/** Words in quotes are shortened by every good summary. */
const isFigure = (value: string): boolean => /^\P{L}{0,3}\d/u.test(value);

/**
 * Whether one more call is worth it: for several values that no folded turn holds, one that does harm counting as two,
 * or for several facts that a later answer needs. Undefined: it is not.
 */
export function correctionFor(
  doubtful: readonly DoubtfulItem[],
  needed: readonly Fact[],
): Correction | undefined {
  const { correctionValues, correctionFacts, repairFactLimit } = repairConstants;
  const doubts = doubtful.reduce(
    (sum, { cut, unconfirmed }) => sum + 2 * cut.length + unconfirmed.filter(isFigure).length,
    0,
  );
  const missing = needed.toSorted((a, b) => b.weight - a.weight);
  const asksItems = doubts >= correctionValues.value;
  const asksFacts = missing.length >= correctionFacts.value;
  if (!asksItems && !asksFacts) return undefined;
  return {
    items: asksItems ? [...doubtful] : [],
    missing: asksFacts ? missing.slice(0, repairFactLimit.value) : [],
  };
}
