import { placeIn, searchPieces, type SearchPiece } from './search-words.ts';
import type { SearchQuery } from './search-query.ts';

/** A word that only begins with what was asked for counts this much; from this length on. */
const BEGINNING_WEIGHT = 0.5;
const BEGINNING_CHARACTERS_MIN = 3;
/** A character of a run counts as half a word: the usual word of such scripts has two. */
const RUN_CHARACTER_LENGTH = 0.5;
/** Places of one text that are remembered, to choose what to show of it. */
const PLACES_MAX = 64;

export interface FoundPlace {
  /** Of the words, then of the stretches of the query. */
  unit: number;
  /** UTF-16 units in the text. */
  index: number;
}

/** What a text has of a query. */
export interface FoundInText {
  /** How often each word, then each stretch, occurs; a beginning counts half. */
  counts: number[];
  /** Length of the text, in words. */
  length: number;
  /** The first places, in order. */
  places: FoundPlace[];
}

function countWord(found: FoundInText, piece: SearchPiece, words: readonly string[]): void {
  for (const [unit, word] of words.entries()) {
    const isBeginning = word.length >= BEGINNING_CHARACTERS_MIN && piece.text.startsWith(word);
    if (piece.text !== word && !isBeginning) continue;
    found.counts[unit] = (found.counts[unit] ?? 0) + (piece.text === word ? 1 : BEGINNING_WEIGHT);
    if (found.places.length < PLACES_MAX) found.places.push({ unit, index: piece.index });
  }
}

function countStretches(found: FoundInText, piece: SearchPiece, query: SearchQuery): void {
  for (const [i, stretch] of query.stretches.entries()) {
    const unit = query.words.length + i;
    let at = piece.text.indexOf(stretch);
    for (; at >= 0; at = piece.text.indexOf(stretch, at + stretch.length)) {
      found.counts[unit] = (found.counts[unit] ?? 0) + 1;
      if (found.places.length < PLACES_MAX) found.places.push({ unit, index: placeIn(piece, at) });
    }
  }
}

/** Looks through a text once, in time linear in its length for a query of a given size. */
export function findInText(text: string, query: SearchQuery): FoundInText {
  const units = query.words.length + query.stretches.length;
  const found: FoundInText = {
    counts: Array.from({ length: units }, () => 0),
    length: 0,
    places: [],
  };
  for (const piece of searchPieces(text)) {
    if (piece.kind === 'word') {
      found.length += 1;
      countWord(found, piece, query.words);
    } else {
      found.length += piece.text.length * RUN_CHARACTER_LENGTH;
      countStretches(found, piece, query);
    }
  }
  found.places.sort((a, b) => a.index - b.index);
  return found;
}
