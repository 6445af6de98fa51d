import { piecesWithoutPlaces, stopWords } from '../search/search-words.ts';
import { stemWord } from '../search/stem-word.ts';
import { withoutSmallTalk } from './small-talk.ts';

/** Longer words are data (keys, encoded files); their beginnings tell them apart. UTF-16 units. */
const TERM_CHARACTERS = 40;

export const asTerm = (text: string): string => text.slice(0, TERM_CHARACTERS);

/** Overlapping pairs of the characters of a run, and the last one alone: any stretch of it is the beginning of one. */
function* runTerms(run: string): Generator<string> {
  const characters = Array.from(run);
  for (const [i, character] of characters.entries()) yield character + (characters[i + 1] ?? '');
}

/** What a text is found by, and its length in words as a search counts it. */
interface TextTerms {
  /** Each with how often it stands in the text. */
  counts: Map<string, number>;
  length: number;
}

/** The terms of a text without its pleasantries: stems of its words that say something, pairs of characters in runs. */
export function extractTerms(text: string): TextTerms {
  const counts = new Map<string, number>();
  const add = (term: string) => counts.set(term, (counts.get(term) ?? 0) + 1);
  let length = 0;
  for (const piece of piecesWithoutPlaces(withoutSmallTalk(text))) {
    if (piece.kind === 'word') {
      length += 1;
      if (!stopWords.has(piece.text)) add(asTerm(stemWord(piece.text)));
    } else {
      length += piece.text.length / 2;
      for (const term of runTerms(piece.text)) add(term);
    }
  }
  return { counts, length: Math.ceil(length) };
}
