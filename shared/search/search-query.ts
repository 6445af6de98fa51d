import { searchPieces } from './search-words.ts';

/** Characters of a run up to which it is looked for as a whole: most words of Chinese, Japanese and Korean. */
const WHOLE_RUN_CHARACTERS = 4;
const PAIR = 2;

/** Things to look for at most; what a longer query asks for beyond them is left out. */
export const QUERY_UNITS_MAX = 32;

/** What a query asks for: words, and stretches of characters in texts without spaces. */
export interface SearchQuery {
  words: readonly string[];
  stretches: readonly string[];
}

/** A short run as it is, a longer one as its overlapping pairs of characters. */
function stretchesOf(run: string): string[] {
  const characters = Array.from(run);
  if (characters.length <= WHOLE_RUN_CHARACTERS) return [run];
  return characters.slice(1).map((_, i) => characters.slice(i, i + PAIR).join(''));
}

/** What to look for; nothing when the text has neither letters nor digits. */
export function readSearchQuery(text: string): SearchQuery {
  const words = new Set<string>();
  const stretches = new Set<string>();
  for (const { kind, text: piece } of searchPieces(text)) {
    if (kind === 'word') words.add(piece);
    else for (const stretch of stretchesOf(piece)) stretches.add(stretch);
  }
  const chosen = [...words].slice(0, QUERY_UNITS_MAX);
  return {
    words: chosen,
    stretches: [...stretches].slice(0, QUERY_UNITS_MAX - chosen.length),
  };
}
