import { withoutPause } from '../steps.ts';
import { wordMatcher } from './match-word.ts';
import { splitAtBreaks } from './passages.ts';
import { countUnits, type SearchQuery } from './search-query.ts';
import { placeIn, searchPieces, type SearchPiece } from './search-words.ts';

/** A character of a run counts as half a word: the usual word of such scripts has two. */
const RUN_CHARACTER_LENGTH = 0.5;
/** UTF-16 units of a text that are looked through at a time: some milliseconds. */
const PART_CHARACTERS = 16_384;
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

/** `start`: where the part that `piece` stands in begins. */
function countStretches(
  found: Finding,
  { piece, start }: { piece: SearchPiece; start: number },
  query: SearchQuery,
): void {
  for (const [i, stretch] of query.stretches.entries()) {
    const unit = query.words.length + i;
    let at = piece.text.indexOf(stretch);
    for (; at >= 0; at = piece.text.indexOf(stretch, at + stretch.length))
      add(found, { unit, index: start + placeIn(piece, at) }, 1);
  }
}

/** Adds what a part of a text has that begins at `start`. */
function look(
  found: Finding,
  { part, start }: { part: string; start: number },
  { query, matchesOf }: { query: SearchQuery; matchesOf: ReturnType<typeof wordMatcher> },
): void {
  for (const piece of searchPieces(part)) {
    if (piece.kind === 'word') {
      found.length += 1;
      for (const { unit, weight } of matchesOf(piece.text))
        add(found, { unit, index: start + piece.index }, weight);
    } else {
      found.length += piece.text.length * RUN_CHARACTER_LENGTH;
      countStretches(found, { piece, start }, query);
    }
  }
}

/**
 * Looks through texts for one query, each once, in time linear in its length for a query of a given size. Yields after
 * each part of a long text, so that other work may come between: how many UTF-16 units it had.
 */
export function createSteppedFinder(
  query: SearchQuery,
): (text: string) => Generator<number, FoundInText> {
  const matchesOf = wordMatcher(query.words);
  return function* findIn(text) {
    const counts = Array.from({ length: countUnits(query) }, () => 0);
    const found: Finding = { counts, length: 0, places: [] };
    let start = 0;
    for (const part of splitAtBreaks(text, PART_CHARACTERS, PART_CHARACTERS)) {
      look(found, { part, start }, { query, matchesOf });
      start += part.length;
      yield part.length;
    }
    return { ...found, places: found.places.toSorted((a, b) => a.index - b.index) };
  };
}

/** The same without a pause, for texts of a known size. */
export function createFinder(query: SearchQuery): (text: string) => FoundInText {
  const findIn = createSteppedFinder(query);
  return (text) => withoutPause(findIn(text));
}
