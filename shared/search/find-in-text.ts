import { wordMatcher, type WordMatch } from './match-word.ts';
import { countUnits, type SearchQuery } from './search-query.ts';
import { placeIn, searchPieces, type SearchPiece } from './search-words.ts';

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

/** How much of a query is in a text: all that ranking needs. */
export interface CountedText {
  /** How often each word, then each stretch, occurs; a beginning counts half. */
  counts: readonly number[];
  /** Length of the text, in words. */
  length: number;
}

/** What a text has of a query. */
interface FoundInText extends CountedText {
  /** The first places, in order. */
  places: readonly FoundPlace[];
}

interface Finding {
  counts: number[];
  length: number;
  places: FoundPlace[];
}

function add(found: Finding, place: FoundPlace, weight: number): void {
  found.counts[place.unit] = (found.counts[place.unit] ?? 0) + weight;
  if (found.places.length < PLACES_MAX) found.places.push(place);
}

function countStretches(found: Finding, piece: SearchPiece, query: SearchQuery): void {
  for (const [i, stretch] of query.stretches.entries()) {
    const unit = query.words.length + i;
    let at = piece.text.indexOf(stretch);
    for (; at >= 0; at = piece.text.indexOf(stretch, at + stretch.length))
      add(found, { unit, index: placeIn(piece, at) }, 1);
  }
}

function look(
  text: string,
  query: SearchQuery,
  matchesOf: (word: string) => readonly WordMatch[],
): FoundInText {
  const counts = Array.from({ length: countUnits(query) }, () => 0);
  const found: Finding = { counts, length: 0, places: [] };
  for (const piece of searchPieces(text)) {
    if (piece.kind === 'word') {
      found.length += 1;
      const matches = matchesOf(piece.text);
      if (matches.length === 0) continue;
      for (const { unit, weight } of matches) add(found, { unit, index: piece.index }, weight);
    } else {
      found.length += piece.text.length * RUN_CHARACTER_LENGTH;
      countStretches(found, piece, query);
    }
  }
  return { ...found, places: found.places.toSorted((a, b) => a.index - b.index) };
}

/** Looks through texts for one query, each once, in time linear in its length for a query of a given size. */
export function createFinder(query: SearchQuery): (text: string) => FoundInText {
  const matchesOf = wordMatcher(query.words);
  return (text) => look(text, query, matchesOf);
}
