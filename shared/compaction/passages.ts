import { splitSentences } from '#shared/text/sentences.ts';
import { distinctUnits, hashAsciiWords, hashUnit, unitsIn } from '#shared/text/words.ts';

/** Words as they are compared. */
export type Units = ReadonlySet<string>;

/** Where words stand close together, and how many of them, 0–1. */
export interface Passage {
  /** Number of the text, in their order. */
  text: number;
  share: number;
}

export interface Passages {
  /**
   * The first text in which at least `least` of these words stand close together, one of those that `isMeant`.
   * Only texts that hold one of the rarest of them are looked into, so a common word costs nothing.
   */
  firstHolding: (
    words: Units,
    least: number,
    isMeant: (text: number) => boolean,
  ) => Passage | undefined;
}

/** Reads texts once, to be looked through for words that stand close together in them. Linear. */
export function toPassages(texts: readonly string[]): Passages {
  const textsWith = indexTexts(texts);
  const linesByText = new Map<number, readonly Units[]>();
  const linesOf = (text: number): readonly Units[] => {
    const known = linesByText.get(text);
    if (known !== undefined) return known;
    const lines = splitSentences(withoutFences(texts[text] ?? '')).map(distinctUnits);
    linesByText.set(text, lines);
    return lines;
  };
  return {
    firstHolding: (words, least, isMeant) => {
      const rare = rarest(words, least, textsWith);
      const holding = new Set(rare.flatMap(textsWith));
      for (const text of [...holding].toSorted((one, other) => one - other)) {
        if (!isMeant(text)) continue;
        const share = largestShare(linesOf(text), words, rare);
        if (share >= least) return { text, share };
      }
      return undefined;
    },
  };
}

/** What would make one line of many, and leave out what stands beside them. */
const fences = /`{3,}|~{3,}/gu;

const withoutFences = (text: string): string => text.replaceAll(fences, ' ');

/** Which texts hold a word: all that do, in order; another one where hashes meet. Their lines are looked at afterwards. */
function indexTexts(texts: readonly string[]): (word: string) => readonly number[] {
  const textsByHash = new Map<number, number[]>();
  for (const [text, written] of texts.entries()) {
    const note = (hash: number): void => {
      const known = textsByHash.get(hash);
      if (known === undefined) textsByHash.set(hash, [text]);
      else if (known.at(-1) !== text) known.push(text);
    };
    if (!hashAsciiWords(written, note))
      for (const unit of unitsIn(withoutFences(written))) note(hashUnit(unit));
  }
  return (word) => textsByHash.get(hashUnit(word)) ?? [];
}

/** The rarest words, one more than may be missing: one of them stands in every passage that holds enough. */
function rarest(
  words: Units,
  least: number,
  textsWith: (word: string) => readonly number[],
): string[] {
  const mayMiss = words.size - Math.ceil(least * words.size);
  return [...words]
    .toSorted((one, other) => textsWith(one).length - textsWith(other).length)
    .slice(0, mayMiss + 1);
}

/** Lines that words may be spread over: a mail breaks its sentences. */
const PASSAGE_LINES = 6;

/** Words that a passage may have, those that are looked for among them. */
const lengthFor = (words: Units): number => 2 * words.size + 6;

/** The largest share of `words` in a passage of these lines, of those that begin near one of the `rare` words. */
function largestShare(lines: readonly Units[], words: Units, rare: readonly string[]): number {
  let largest = 0;
  for (const [place, units] of lines.entries()) {
    if (!rare.some((word) => units.has(word))) continue;
    for (let from = Math.max(0, place - PASSAGE_LINES + 1); from <= place; from += 1)
      largest = Math.max(largest, shareFrom(lines, from, words));
  }
  return largest;
}

/** Share of `words` in the lines from `first` on, as far as they are one passage. */
function shareFrom(lines: readonly Units[], first: number, words: Units): number {
  const held = new Set<string>();
  let room = lengthFor(words);
  for (const units of lines.slice(first, first + PASSAGE_LINES)) {
    room -= units.size;
    if (room < 0 && units !== lines[first]) break;
    for (const word of words) if (units.has(word)) held.add(word);
  }
  return held.size / words.size;
}
