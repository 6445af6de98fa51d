import { searchPieces, stopWords } from './search-words.ts';
import { stemWord } from './stem-word.ts';

/** Characters of a run up to which it is looked for as a whole: most words of Chinese, Japanese and Korean. */
const WHOLE_RUN_CHARACTERS = 4;
const PAIR = 2;

/** For a question, whose words nobody has parted: any two characters of it count. */
export const PAIRS_ALONE = PAIR;

/** Things to look for at most; what a longer query asks for beyond them is left out. */
export const QUERY_UNITS_MAX = 32;

export interface QueryWord {
  /** As it was asked for, folded. */
  text: string;
  /** What its other forms share with it. */
  stem: string;
}

/** What a query asks for, in its order: words, and stretches of characters in texts without spaces. */
export interface SearchQuery {
  words: readonly QueryWord[];
  stretches: readonly string[];
}

/** How many things a query asks for: its words come first. */
export const countUnits = ({ words, stretches }: SearchQuery) => words.length + stretches.length;

/** A short run as it is, a longer one as its overlapping pairs of characters. */
function stretchesOf(run: string, wholeCharacters: number): string[] {
  const characters = Array.from(run);
  if (characters.length <= wholeCharacters) return [run];
  return characters.slice(1).map((_, i) => characters.slice(i, i + PAIR).join(''));
}

/** One word of each stem, without those that say nothing. */
function wordsOf(words: ReadonlySet<string>, hasStretches: boolean): QueryWord[] {
  const telling = [...words].filter((word) => !stopWords.has(word));
  const asked = telling.length > 0 || hasStretches ? telling : [...words];
  const byStem = new Map<string, QueryWord>();
  for (const text of asked) {
    const stem = stemWord(text);
    if (!byStem.has(stem)) byStem.set(stem, { text, stem });
  }
  return [...byStem.values()];
}

/**
 * What to look for: question words and the like only where there is nothing else; nothing when the text has
 * neither letters nor digits. Runs up to `wholeCharacters` are looked for as they are.
 */
export function readSearchQuery(
  text: string,
  wholeCharacters: number = WHOLE_RUN_CHARACTERS,
): SearchQuery {
  const words = new Set<string>();
  const stretches = new Set<string>();
  for (const { kind, text: piece } of searchPieces(text)) {
    if (kind === 'word') words.add(piece);
    else for (const stretch of stretchesOf(piece, wholeCharacters)) stretches.add(stretch);
  }
  const chosen = wordsOf(words, stretches.size > 0).slice(0, QUERY_UNITS_MAX);
  return {
    words: chosen,
    stretches: [...stretches].slice(0, QUERY_UNITS_MAX - chosen.length),
  };
}
