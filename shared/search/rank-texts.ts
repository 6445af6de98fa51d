import type { CountedText } from './find-in-text.ts';

/**
 * BM25 (Robertson, Zaragoza 2009), with less weight on the length of a text and on repetition than for documents:
 * messages are short, and a longer one tells more. Chosen, as the weights below, on every second conversation of
 * LoCoMo; they hold on the others (docs/guides/recall.md).
 */
const SATURATION = 0.8;
const LENGTH_WEIGHT = 0.3;
/** Times the mean: among one-word messages a sentence is no treatise. */
const LENGTH_MAX = 3;

/** A text must have this share of what the query asks for, at least one thing. Heuristic. */
const SHARE_MIN = 1 / 3;

/**
 * What the texts around a text have counts for it too, by their distance: an answer says less than the question that
 * it follows. A long neighbour speaks for itself and counts less the longer it is than this many words.
 */
const NEIGHBOUR_WEIGHTS = [0.3, 0.12] as const;
/** A text that has nothing of the query itself, only beside it, does not come before what it stands beside. */
const BESIDE_WEIGHT = 0.8;
/** Words of a neighbour from which on its credit shrinks. */
const NEIGHBOUR_WORDS = 100;

/** What stands in more than this share of the texts (names of the speakers) tells next to nothing. */
const COMMON_SHARE = 0.2;
const COMMON_WEIGHT = 0.1;
/** Of fewer texts no share says what is common. */
const COMMON_TEXTS_MIN = 50;

const isFound = (count: number) => count > 0;

/** Whether a text has enough of the query itself to be a hit at all. */
export function isHit({ counts }: Pick<CountedText, 'counts'>): boolean {
  const found = counts.filter(isFound).length;
  return found >= Math.max(1, Math.ceil(counts.length * SHARE_MIN));
}

/** What is known of all texts together. */
export interface TextStatistics {
  texts: number;
  /** Words. */
  meanLength: number;
  /** How many texts have each unit of the query. */
  textsWith: readonly number[];
}

/** How much each unit of a query tells: the rarer, the more; also what no text has. */
export const weightsOf = ({ texts, textsWith }: TextStatistics): number[] =>
  textsWith.map((withIt) => {
    const rarity = Math.log(1 + (texts - withIt + 0.5) / (withIt + 0.5));
    const isCommon = texts >= COMMON_TEXTS_MIN && withIt > COMMON_SHARE * texts;
    return isCommon ? COMMON_WEIGHT * rarity : rarity;
  });

/** Texts of a conversation in their order, and where the units of a query stand in them. */
export interface RankedTexts {
  /** Words of each text. */
  lengths: ArrayLike<number>;
  /** By unit of the query: the texts that have it, ascending, and how often. */
  found: readonly { texts: readonly number[]; counts: readonly number[] }[];
}

/** Adds to `counts` what a text that has a unit gives to itself and to those around it; notes which were reached. */
function spread(
  { lengths }: RankedTexts,
  at: { text: number; count: number },
  into: { counts: Float32Array; reached: number[]; givesCredit: (text: number) => boolean },
): void {
  const { counts, reached, givesCredit } = into;
  const add = (text: number, amount: number) => {
    if (text < 0 || text >= lengths.length) return;
    if (counts[text] === 0) reached.push(text);
    counts[text] = (counts[text] ?? 0) + amount;
  };
  add(at.text, at.count);
  if (!givesCredit(at.text)) return;
  const credit = at.count * Math.min(1, NEIGHBOUR_WORDS / Math.max(1, lengths[at.text] ?? 0));
  for (const [i, weight] of NEIGHBOUR_WEIGHTS.entries()) {
    add(at.text - i - 1, weight * credit);
    add(at.text + i + 1, weight * credit);
  }
}

/**
 * How well each text answers a query, by BM25. 0: neither it nor a text around it has anything of it.
 * Takes time for what is found, not for all texts.
 */
export function scoreTexts(
  ranked: RankedTexts,
  of: {
    weights: readonly number[];
    meanLength: number;
    /** Whether what a text has counts for those around it. */
    givesCredit: (text: number) => boolean;
  },
): Float32Array {
  const { lengths, found } = ranked;
  const { weights, meanLength, givesCredit } = of;
  const scores = new Float32Array(lengths.length);
  const counts = new Float32Array(lengths.length);
  for (const [unit, { texts, counts: own }] of found.entries()) {
    const weight = weights[unit] ?? 0;
    const reached: number[] = [];
    for (let i = 0; i < texts.length; i++)
      spread(ranked, { text: texts[i] ?? 0, count: own[i] ?? 0 }, { counts, reached, givesCredit });
    for (const text of reached) {
      const count = counts[text] ?? 0;
      counts[text] = 0;
      const length = Math.min(LENGTH_MAX, (lengths[text] ?? 0) / meanLength);
      const saturation = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length);
      scores[text] =
        (scores[text] ?? 0) + (weight * count * (SATURATION + 1)) / (count + saturation);
    }
  }
  const have = new Set(found.flatMap(({ texts }) => texts));
  for (const [text, score] of scores.entries())
    if (score > 0 && !have.has(text)) scores[text] = BESIDE_WEIGHT * score;
  return scores;
}

/** The texts that have each unit of the query. */
function foundIn(texts: readonly CountedText[]): RankedTexts['found'] {
  const found = (texts[0]?.counts ?? []).map(() => ({
    texts: [] as number[],
    counts: [] as number[],
  }));
  for (const [text, { counts }] of texts.entries())
    for (const [unit, count] of counts.entries())
      if (isFound(count)) {
        found[unit]?.texts.push(text);
        found[unit]?.counts.push(count);
      }
  return found;
}

function scoresAmong(texts: readonly CountedText[], areNeighbours: boolean): Float32Array {
  const givesCredit = () => areNeighbours;
  const found = foundIn(texts);
  const lengths = texts.map(({ length }) => length);
  const meanLength = Math.max(1, lengths.reduce((sum, length) => sum + length, 0) / texts.length);
  const textsWith = found.map((unit) => unit.texts.length);
  const weights = weightsOf({ texts: texts.length, meanLength, textsWith });
  return scoreTexts({ lengths, found }, { weights, meanLength, givesCredit });
}

/** Scores of texts that are the neighbours of one another in the order given (either way round). */
export const scoresOf = (texts: readonly CountedText[]): Float32Array => scoresAmong(texts, true);

/** As `scoresOf`, of texts that stand each for itself. */
export const scoresApart = (texts: readonly CountedText[]): Float32Array =>
  scoresAmong(texts, false);
