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
  const unitsFound = counts.filter(isFound).length;
  return unitsFound >= Math.max(1, Math.ceil(counts.length * SHARE_MIN));
}

/** Whether so many texts have a unit that it tells next to nothing. */
const isCommon = ({ texts, withIt }: { texts: number; withIt: number }): boolean =>
  texts >= COMMON_TEXTS_MIN && withIt > COMMON_SHARE * texts;

/** How much a word tells that so many texts have: the rarer, the more; also one that none has. */
const rarity = ({ texts, withIt }: { texts: number; withIt: number }): number =>
  Math.log(1 + (texts - withIt + 0.5) / (withIt + 0.5));

/** How much each unit of a query tells that so many of the texts have. */
export const textWeights = (texts: number, textsWith: readonly number[]): number[] =>
  textsWith.map((withIt) => {
    const tells = rarity({ texts, withIt });
    return isCommon({ texts, withIt }) ? COMMON_WEIGHT * tells : tells;
  });

/** Texts of a conversation in their order, and where the units of a query stand in them. */
interface RankedTexts {
  /** How many texts. */
  length: number;
  /** Words of each text. */
  lengths: ArrayLike<number>;
  /** By unit of the query: the texts that have it, ascending, and how often. */
  found: readonly { texts: readonly number[]; counts: readonly number[] }[];
}

/** Numbers by text, most of them 0, and which are not. */
interface Sums {
  of: Float32Array;
  reached: number[];
}

const noSums = (length: number): Sums => ({ of: new Float32Array(length), reached: [] });

function add({ of, reached }: Sums, text: number, amount: number): void {
  const sum = of[text];
  // A neighbour of the first or the last text.
  if (sum === undefined) return;
  if (sum === 0) reached.push(text);
  of[text] = sum + amount;
}

/** Adds to `counts` what a text that has a unit gives to those around it. */
function giveCredit(counts: Sums, text: number, credit: number): void {
  for (let i = 0; i < NEIGHBOUR_WEIGHTS.length; i++) {
    const amount = (NEIGHBOUR_WEIGHTS[i] ?? 0) * credit;
    add(counts, text - i - 1, amount);
    add(counts, text + i + 1, amount);
  }
}

/**
 * How well texts answer a query, by BM25: those that have something of it, or stand beside such. Takes time for what is
 * found, not for all texts.
 */
export function scoreTexts(
  { length, lengths, found }: RankedTexts,
  input: {
    weights: readonly number[];
    meanLength: number;
    /** Whether what a text has counts for those around it. */
    givesCredit: (text: number) => boolean;
  },
): { text: number; score: number }[] {
  const { weights, meanLength, givesCredit } = input;
  const scores = noSums(length);
  const counts = noSums(length);
  const have = new Uint8Array(length);
  for (const [unit, { texts, counts: own }] of found.entries()) {
    // What stands everywhere stands in every neighbour as well.
    const isCommonUnit = isCommon({ texts: length, withIt: texts.length });
    for (let i = 0; i < texts.length; i++) {
      const text = texts[i] ?? 0;
      const count = own[i] ?? 0;
      have[text] = 1;
      add(counts, text, count);
      if (givesCredit(text) && !isCommonUnit)
        giveCredit(counts, text, count * Math.min(1, NEIGHBOUR_WORDS / (lengths[text] || 1)));
    }
    for (const text of counts.reached) {
      const count = counts.of[text] ?? 0;
      counts.of[text] = 0;
      const relative = Math.min(LENGTH_MAX, (lengths[text] ?? 0) / meanLength);
      const saturation = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * relative);
      add(scores, text, ((weights[unit] ?? 0) * count * (SATURATION + 1)) / (count + saturation));
    }
    counts.reached.length = 0;
  }
  return scores.reached.map((text) => {
    const score = scores.of[text] ?? 0;
    return { text, score: have[text] === 1 ? score : BESIDE_WEIGHT * score };
  });
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

/** Scores of texts that are the neighbours of one another in the order given (either way round); 0: nothing of the query. */
export function textScores(texts: readonly CountedText[]): Float32Array {
  const found = foundIn(texts);
  const lengths = texts.map(({ length }) => length);
  const meanLength = Math.max(1, lengths.reduce((sum, length) => sum + length, 0) / texts.length);
  const textsWith = found.map((unit) => unit.texts.length);
  const weights = textWeights(texts.length, textsWith);
  const scores = new Float32Array(texts.length);
  const ranked = { length: texts.length, lengths, found };
  for (const { text, score } of scoreTexts(ranked, {
    weights,
    meanLength,
    givesCredit: () => true,
  }))
    scores[text] = score;
  return scores;
}
