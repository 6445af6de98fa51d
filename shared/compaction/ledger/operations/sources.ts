import { ledgerConstants } from '../ledger-constants.ts';

/**
 * Turns of two lists, ascending, each once; of more than the limit, the first and the newest stay.
 */
export function mergeSources(one: readonly number[], other: readonly number[]): number[] {
  const merged = [...new Set([...one, ...other])].toSorted((a, b) => a - b);
  const limit = ledgerConstants.itemSourceLimit.value;
  return merged.length <= limit ? merged : [...merged.slice(0, 1), ...merged.slice(1 - limit)];
}

/** The newest turn that an item cites; 0 for an item without sources. */
export const lastSource = (item: { sources: readonly number[] }): number =>
  item.sources.at(-1) ?? 0;
