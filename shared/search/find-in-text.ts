import { cutHead, cutTail } from '#shared/text/cut.ts';
import { searchPieces, stopWords, stemWord, placeIn, type SearchPiece } from './search-words.ts';

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

/** A word that only begins with what was asked for counts this much; from this length on. */
export const BEGINNING_WEIGHT = 0.5;
export const BEGINNING_CHARACTERS_MIN = 3;
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

function matchWord(word: string, words: readonly QueryWord[]): readonly WordMatch[] {
  const stem = stemWord(word);
  const matches = words.flatMap((asked, unit) => {
    const weight = weightOf(word, stem, asked);
    return weight > 0 ? [{ unit, weight }] : [];
  });
  return matches.length > 0 ? matches : none;
}

/** Tells which words of a query a word of a text is: mostly none. Texts repeat their words, so it remembers. */
function wordMatcher(words: readonly QueryWord[]): (word: string) => readonly WordMatch[] {
  const remembered = new Map<string, readonly WordMatch[]>();
  return (word) => {
    const known = remembered.get(word);
    if (known) return known;
    const matches = matchWord(word, words);
    if (remembered.size < REMEMBERED_MAX) remembered.set(word, matches);
    return matches;
  };
}

/** UTF-16 units of a passage: a long answer tells of many things, and a search ranks each by itself. */
const PASSAGE_CHARACTERS = 500;
/** A text of up to this many stays whole. */
const WHOLE_CHARACTERS = 800;

const sentenceEnds = /[.!?…]["'”’»)\]*_]{0,3}\s|[。！？｡]/gu;

/** The end of the last paragraph, else line, else sentence, else word in the second half of a stretch. */
function lastBreak(stretch: string): number {
  const half = stretch.length / 2;
  for (const mark of ['\n\n', '\n']) {
    const at = stretch.lastIndexOf(mark);
    if (at >= half) return at + mark.length;
  }
  let end = 0;
  for (const { 0: mark, index } of stretch.matchAll(sentenceEnds)) end = index + mark.length;
  if (end >= half) return end;
  const blank = stretch.lastIndexOf(' ');
  return blank >= half ? blank + 1 : stretch.length;
}

/**
 * The parts of a text that are ranked each by itself, cut behind a sentence or a word where there is one. Joined they are
 * the text. Linear; cuts no grapheme.
 */
export function splitPassages(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  while (text.length - start > WHOLE_CHARACTERS) {
    const stretch = cutHead(text.slice(start, start + WHOLE_CHARACTERS), PASSAGE_CHARACTERS);
    const length = stretch === '' ? PASSAGE_CHARACTERS : lastBreak(stretch);
    parts.push(text.slice(start, start + length));
    start += length;
  }
  return [...parts, text.slice(start)];
}

/** A character of a run counts as half a word: the usual word of such scripts has two. */
const RUN_CHARACTER_LENGTH = 0.5;
/** Places of one text that are remembered, to choose what to show of it. */
const PLACES_MAX = 64;

interface FoundPlace {
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

/** Looks through texts for one query, each in time linear in its length for a query of a given size. */
export function createFinder(query: SearchQuery): (text: string) => FoundInText {
  const matchesOf = wordMatcher(query.words);
  return (text) => {
    const counts = Array.from({ length: countUnits(query) }, () => 0);
    const found: Finding = { counts, length: 0, places: [] };
    for (const piece of searchPieces(text)) {
      if (piece.kind === 'word') {
        found.length += 1;
        for (const { unit, weight } of matchesOf(piece.text))
          add(found, { unit, index: piece.index }, weight);
      } else {
        found.length += piece.text.length * RUN_CHARACTER_LENGTH;
        countStretches(found, piece, query);
      }
    }
    return { ...found, places: found.places.toSorted((a, b) => a.index - b.index) };
  };
}

/** UTF-16 units before the first word that is shown as found, and from it on. */
const BEFORE_CHARACTERS = 60;
const AFTER_CHARACTERS = 140;
/** Share of an excerpt that stands before the first word that is shown as found. */
const EXCERPT_BEFORE_FRACTION = 0.3;

/** The place from which most of the query is in view; the first of those. */
function bestPlace(places: readonly FoundPlace[]): number {
  let best = { index: 0, units: 0 };
  for (const { index } of places) {
    const inView = places.filter(
      (other) => other.index >= index && other.index < index + AFTER_CHARACTERS / 2,
    );
    const units = new Set(inView.map(({ unit }) => unit)).size;
    if (units > best.units) best = { index, units };
  }
  return best.index;
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ');

interface Stretch {
  /** UTF-16 units before the place, and from it on. */
  before: number;
  after: number;
}

function stretchOf(text: string, index: number, { before, after }: Stretch): string {
  const shownBefore = cutTail(text.slice(0, index), before);
  const shownAfter = cutHead(text.slice(index), after);
  const isCutBefore = shownBefore.length < index;
  const isCutAfter = index + shownAfter.length < text.length;
  const shown = oneLine(shownBefore + shownAfter).trim();
  return `${isCutBefore ? '…' : ''}${shown}${isCutAfter ? '…' : ''}`;
}

/**
 * A stretch of a text around what was found, on one line, with `…` where something was left out. Cuts no
 * grapheme. `reach`: UTF-16 units from the place on that must be in it, at most 200 of them are.
 */
export function cutSnippet(text: string, places: readonly FoundPlace[], reach: number): string {
  const after = Math.max(AFTER_CHARACTERS, Math.min(reach, 200));
  return stretchOf(text, bestPlace(places), { before: BEFORE_CHARACTERS, after });
}

/** As a snippet, but of at most `characters` UTF-16 units: the whole text where it fits. */
export function cutExcerpt(
  text: string,
  places: readonly FoundPlace[],
  characters: number,
): string {
  const line = oneLine(text).trim();
  if (line.length <= characters) return line;
  // Two are for the dots.
  const room = Math.max(0, characters - 2);
  const index = bestPlace(places);
  const before = Math.min(index, Math.floor(room * EXCERPT_BEFORE_FRACTION));
  return stretchOf(text, index, { before, after: room - before });
}
