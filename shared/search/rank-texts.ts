import type { CountedText } from './find-in-text.ts';

/** BM25 with the constants that its authors and most search engines use (Robertson, Zaragoza 2009). */
const SATURATION = 1.2;
const LENGTH_WEIGHT = 0.75;

/** A text must have this share of what the query asks for, at least one thing. Heuristic. */
const SHARE_MIN = 1 / 3;

/**
 * What the texts before and after a text have counts for it too: an answer says less than the question that
 * it follows. A long neighbour speaks for itself and counts less the longer it is than this many words. Both
 * were chosen on half of the conversations of LoCoMo and hold on the other half (docs/guides/recall.md).
 */
const NEIGHBOUR_WEIGHT = 0.3;
const NEIGHBOUR_WORDS = 100;

const isFound = (count: number) => count > 0;

/** Whether a text has enough of the query itself to be a hit at all. */
export function isHit({ counts }: Pick<CountedText, 'counts'>): boolean {
  const found = counts.filter(isFound).length;
  return found >= Math.max(1, Math.ceil(counts.length * SHARE_MIN));
}

interface Statistics {
  meanLength: number;
  /** How much each unit of the query tells: the rarer, the more. */
  rarities: number[];
}

function statisticsOf(texts: readonly CountedText[]): Statistics {
  const textsWith: number[] = [];
  let length = 0;
  for (const text of texts) {
    length += text.length;
    for (const [unit, count] of text.counts.entries())
      textsWith[unit] = (textsWith[unit] ?? 0) + (isFound(count) ? 1 : 0);
  }
  return {
    meanLength: Math.max(1, length / Math.max(1, texts.length)),
    rarities: textsWith.map((withIt) =>
      Math.log(1 + (texts.length - withIt + 0.5) / (withIt + 0.5)),
    ),
  };
}

const creditOf = (neighbour: CountedText | undefined, unit: number) =>
  neighbour === undefined
    ? 0
    : (neighbour.counts[unit] ?? 0) * Math.min(1, NEIGHBOUR_WORDS / Math.max(1, neighbour.length));

interface Place {
  text: CountedText;
  /** Those before and after it, where there are any. */
  neighbours: readonly (CountedText | undefined)[];
}

function scoreOf({ text, neighbours }: Place, { meanLength, rarities }: Statistics): number {
  const lengthFactor = 1 - LENGTH_WEIGHT + (LENGTH_WEIGHT * text.length) / meanLength;
  return rarities.reduce((sum, rarity, unit) => {
    const near = neighbours.reduce((credit, other) => credit + creditOf(other, unit), 0);
    const count = (text.counts[unit] ?? 0) + NEIGHBOUR_WEIGHT * near;
    if (!isFound(count)) return sum;
    return sum + (rarity * count * (SATURATION + 1)) / (count + SATURATION * lengthFactor);
  }, 0);
}

/**
 * How well each text answers a query, by BM25 over these texts, which are the neighbours of one another in
 * the order given (either way round). 0: neither it nor a neighbour has anything of it.
 */
export function scoresOf(texts: readonly CountedText[]): number[] {
  const statistics = statisticsOf(texts);
  return texts.map((text, i) =>
    scoreOf({ text, neighbours: [texts[i - 1], texts[i + 1]] }, statistics),
  );
}

/** As `scoresOf`, of texts that stand each for itself. */
export function scoresApart(texts: readonly CountedText[]): number[] {
  const statistics = statisticsOf(texts);
  return texts.map((text) => scoreOf({ text, neighbours: [] }, statistics));
}
