import type { FoundInText } from './find-in-text.ts';

/** BM25 with the constants that its authors and most search engines use (Robertson, Zaragoza 2009). */
const SATURATION = 1.2;
const LENGTH_WEIGHT = 0.75;

/** A text must have this share of what the query asks for, at least one thing. Heuristic. */
const SHARE_MIN = 1 / 3;

const isFound = (count: number) => count > 0;

/** Whether a text has enough of the query to be a hit at all. */
export function isHit({ counts }: Pick<FoundInText, 'counts'>): boolean {
  const found = counts.filter(isFound).length;
  return found >= Math.max(1, Math.ceil(counts.length * SHARE_MIN));
}

/** What was looked through, hits or not. */
export interface SearchedTexts {
  texts: number;
  /** Sum of the lengths, in words. */
  length: number;
  /** In how many texts each thing that was asked for occurs. */
  textsWith: number[];
}

export const nothingSearched = (units: number): SearchedTexts => ({
  texts: 0,
  length: 0,
  textsWith: Array.from({ length: units }, () => 0),
});

/** Counts a text that was looked through. */
export function addSearched(searched: SearchedTexts, { counts, length }: FoundInText): void {
  searched.texts += 1;
  searched.length += length;
  for (const [unit, count] of counts.entries())
    if (isFound(count)) searched.textsWith[unit] = (searched.textsWith[unit] ?? 0) + 1;
}

/** How well a text answers the query, by BM25 over the texts that were looked through; above 0 for a hit. */
export function scoreOf(
  { counts, length }: Pick<FoundInText, 'counts' | 'length'>,
  searched: SearchedTexts,
): number {
  const meanLength = Math.max(1, searched.length / Math.max(1, searched.texts));
  const lengthFactor = 1 - LENGTH_WEIGHT + (LENGTH_WEIGHT * length) / meanLength;
  return counts.reduce((sum, count, unit) => {
    if (!isFound(count)) return sum;
    const withIt = searched.textsWith[unit] ?? 0;
    const rarity = Math.log(1 + (searched.texts - withIt + 0.5) / (withIt + 0.5));
    return sum + (rarity * count * (SATURATION + 1)) / (count + SATURATION * lengthFactor);
  }, 0);
}
