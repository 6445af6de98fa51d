import { splitSentences } from '#shared/compaction/facts/speech/sentences.ts';
import { distinctUnits } from '../items/word-overlap.ts';

/** A text among others, in the order in which they were said. */
interface Line {
  units: ReadonlySet<string>;
  /** The text that it is of. */
  text: number;
}

/** Where words stand close together, and how many of them, 0–1. */
export interface HeldPlace {
  /** Number of the text, in their order. */
  text: number;
  share: number;
}

export interface Passages {
  /**
   * The first text in which at least `least` of these words stand close together, one of those that `isMeant`.
   * Only lines that hold one of the rarest of them are looked at, so a common word costs nothing.
   */
  firstHolding: (
    words: ReadonlySet<string>,
    least: number,
    isMeant: (text: number) => boolean,
  ) => HeldPlace | undefined;
}

/** What would make one line of many, and leave out what stands beside them. */
const fences = /`{3,}|~{3,}/gu;
/** Lines that words may be spread over: a mail breaks its sentences. */
const LINES_MAX = 6;
/** How much may stand between the words that are looked for. */
const roomFor = (words: ReadonlySet<string>): number => 2 * words.size + 6;

/** Share of `words` in the lines from `first` on, as far as they are one passage. */
function shareFrom(lines: readonly Line[], first: number, words: ReadonlySet<string>): number {
  const found = new Set<string>();
  let room = roomFor(words);
  const text = lines[first]?.text;
  for (const line of lines.slice(first, first + LINES_MAX)) {
    room -= line.units.size;
    if (line.text !== text || (room < 0 && line !== lines[first])) break;
    for (const word of words) if (line.units.has(word)) found.add(word);
  }
  return words.size === 0 ? 0 : found.size / words.size;
}

/** The rarest words, one more than may be missing: one of them stands in every passage that holds enough. */
function rarest(
  words: ReadonlySet<string>,
  least: number,
  linesOf: (word: string) => readonly number[],
): string[] {
  const mayMiss = words.size - Math.ceil(least * words.size);
  return [...words]
    .toSorted((one, other) => linesOf(one).length - linesOf(other).length)
    .slice(0, mayMiss + 1);
}

/** Reads texts once, to be looked through for words that stand close together in them. Linear. */
export function toPassages(texts: readonly string[]): Passages {
  const lines: Line[] = [];
  const linesByWord = new Map<string, number[]>();
  for (const [text, said] of texts.entries())
    for (const sentence of splitSentences(said.replaceAll(fences, ' '))) {
      const units = distinctUnits(sentence);
      for (const word of units) {
        const known = linesByWord.get(word);
        if (known === undefined) linesByWord.set(word, [lines.length]);
        else known.push(lines.length);
      }
      lines.push({ units, text });
    }
  const linesOf = (word: string): readonly number[] => linesByWord.get(word) ?? [];
  return {
    firstHolding: (words, least, isMeant) => {
      const places = new Set(rarest(words, least, linesOf).flatMap(linesOf));
      let first: HeldPlace | undefined;
      for (const place of places) {
        const text = lines[place]?.text ?? 0;
        if (!isMeant(text) || (first !== undefined && first.text < text)) continue;
        for (let from = Math.max(0, place - LINES_MAX + 1); from <= place; from += 1) {
          if (lines[from]?.text !== text) continue;
          const share = shareFrom(lines, from, words);
          const isBetter = first === undefined || text < first.text || share > first.share;
          if (share >= least && isBetter) first = { text, share };
        }
      }
      return first;
    },
  };
}
