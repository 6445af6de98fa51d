import { contentWords, isNegated } from '#shared/compaction/facts/speech/content-words.ts';
import { plainText } from '#shared/text/plain-text.ts';

/** Which lines of texts hold which content words. */
export interface LineIndex {
  linesByWord: ReadonlyMap<string, readonly number[]>;
  negatedLines: ReadonlySet<number>;
}

/** How much of an instruction stands where it counts as kept; the rest may be said otherwise. */
const HELD_SHARE = 0.7;
/** A word in more lines tells nothing about which of them is meant. */
const LINES_BY_WORD_MAX = 2_000;

/** A line of a text: its content words, each once, and whether it forbids or denies something. */
export interface ReadLine {
  words: ReadonlySet<string>;
  isNegated: boolean;
}

const emptyLine: ReadLine = { words: new Set(), isNegated: false };

/** Reads every line of a text, and an empty one behind it, which parts it from the next text. */
export const readLines = (text: string): ReadLine[] => [
  ...text.split('\n').map((line) => ({
    words: new Set(contentWords(line)),
    isNegated: isNegated(plainText(line)),
  })),
  emptyLine,
];

/** Where the lines of texts hold what, the texts in order. */
export function indexLines(texts: readonly (readonly ReadLine[])[]): LineIndex {
  const linesByWord = new Map<string, number[]>();
  const negatedLines = new Set<number>();
  let number = 0;
  for (const line of texts.flat()) {
    for (const word of line.words) {
      const lines = linesByWord.get(word) ?? [];
      if (lines.length === 0) linesByWord.set(word, lines);
      if (lines.length < LINES_BY_WORD_MAX) lines.push(number);
    }
    if (line.isNegated) negatedLines.add(number);
    number += 1;
  }
  return { linesByWord, negatedLines };
}

/** How many of the words stand in each line, or in it and the one behind it. */
function wordsByPlace(words: ReadonlySet<string>, { linesByWord }: LineIndex) {
  const counts = new Map<number, number>();
  const count = (place: number): void => void counts.set(place, (counts.get(place) ?? 0) + 1);
  for (const word of words) {
    let last: number | undefined;
    // Ascending: of neighbours the first has counted its place already.
    for (const line of linesByWord.get(word) ?? []) {
      if (last !== line - 1) count(line - 1);
      count(line);
      last = line;
    }
  }
  return counts;
}

/**
 * Whether at least 70 % (or another share) of a sentence's content words, and its negation if it has one, stand in one line
 * or two neighbouring ones. Heuristic: word order does not matter.
 */
export function isSentenceHeld(
  sentence: string,
  index: LineIndex,
  share: number = HELD_SHARE,
): boolean {
  const words = new Set(contentWords(sentence));
  if (words.size === 0) return true;
  const negated = isNegated(plainText(sentence));
  for (const [line, count] of wordsByPlace(words, index)) {
    const isNegatedHere = index.negatedLines.has(line) || index.negatedLines.has(line + 1);
    if (count >= share * words.size && (!negated || isNegatedHere)) return true;
  }
  return false;
}
