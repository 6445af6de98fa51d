import type { QueryWord } from './search-query.ts';
import { stemWord } from './stem-word.ts';

/** A word that only begins with what was asked for counts this much; from this length on. */
const BEGINNING_WEIGHT = 0.5;
const BEGINNING_CHARACTERS_MIN = 3;
/** A number that has what was asked for between its separators: the year of a date. */
const NUMBER_PART_WEIGHT = 0.5;

/** Different words of which the answer is remembered while one search goes on. */
const REMEMBERED_MAX = 50_000;

/** Which word of the query a word of a text is, and how much that counts. */
interface WordMatch {
  unit: number;
  weight: number;
}

function weightOf(word: string, stem: string, asked: QueryWord): number {
  if (word === asked.text || stem === asked.stem) return 1;
  if (asked.text.length >= BEGINNING_CHARACTERS_MIN && word.startsWith(asked.text))
    return BEGINNING_WEIGHT;
  const isNumberWith = /^\d+\D/u.test(word) && word.split(/\D/u).includes(asked.text);
  return isNumberWith ? NUMBER_PART_WEIGHT : 0;
}

const none: readonly WordMatch[] = [];

function matchesOf(word: string, words: readonly QueryWord[]): readonly WordMatch[] {
  const stem = stemWord(word);
  const matches = words.flatMap((asked, unit) => {
    const weight = weightOf(word, stem, asked);
    return weight > 0 ? [{ unit, weight }] : [];
  });
  return matches.length > 0 ? matches : none;
}

/** Tells which words of a query a word of a text is: mostly none. Texts repeat their words, so it remembers. */
export function wordMatcher(words: readonly QueryWord[]): (word: string) => readonly WordMatch[] {
  const remembered = new Map<string, readonly WordMatch[]>();
  return (word) => {
    const known = remembered.get(word);
    if (known) return known;
    const matches = matchesOf(word, words);
    if (remembered.size < REMEMBERED_MAX) remembered.set(word, matches);
    return matches;
  };
}
