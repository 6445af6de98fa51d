import { isCommon, rarity } from '../search/rank-texts.ts';
import { extractTerms } from './index-terms.ts';
import { postingLength } from './postings.ts';
import type { Segment } from './segment.ts';
import { isPoliteTerm } from './small-talk.ts';
import { firstFrom } from './term-matches.ts';

/**
 * A text that tells less is small talk ("Way to go, Tim!"). Chosen on excerpts that were read by eye, and low: "I am vegan"
 * has a single word, and it may have been said a dozen times.
 */
export const TELLING_MIN = 0.5;

/** How much a term tells: 1 for a word that stands nowhere else, 0 for what stands everywhere and for small talk. */
export type Telling = (term: string) => number;

/** What terms tell among the passages of these segments. */
export function tellingAmong(segments: readonly Segment[]): Telling {
  const texts = segments.reduce((sum, { passages }) => sum + passages.length, 0);
  const known = new Map<string, number>();
  return (term) => {
    const found = known.get(term);
    if (found !== undefined) return found;
    let withIt = 0;
    for (const { terms, packed, starts } of segments) {
      const at = firstFrom(terms, term);
      if (terms[at] === term) withIt += postingLength(packed, starts[at] ?? 0);
    }
    const isSmallTalk = isPoliteTerm(term) || isCommon({ texts, withIt });
    const telling = isSmallTalk ? 0 : rarity({ texts, withIt }) / rarity({ texts, withIt: 1 });
    known.set(term, telling);
    return telling;
  };
}

/** How much a text tells: what its terms do together. */
export function toldBy(text: string, telling: Telling): number {
  let sum = 0;
  for (const term of extractTerms(text).counts.keys()) sum += telling(term);
  return sum;
}
