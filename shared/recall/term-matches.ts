import { type QueryWord, type SearchQuery } from '../search/search-query.ts';
import { asTerm } from './index-terms.ts';

/** As `match-word.ts` weighs them: a word that begins with what is asked for, a number that has it as a part. */
const BEGINNING_WEIGHT = 0.5;
const BEGINNING_CHARACTERS_MIN = 3;
const NUMBER_PART_WEIGHT = 0.5;

/** Numbers of a query that are looked for in dates and amounts too: each takes a walk through all of those. */
const NUMBER_PARTS_MAX = 4;
const isNumber = (text: string) => /^\d+$/u.test(text);

/** The first of `terms` that is not before `text`. */
export function firstFrom(terms: readonly string[], text: string): number {
  let low = 0;
  let high = terms.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((terms[middle] ?? '') < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A term that a unit of the query matches, by its place in the segment, and how much that counts. */
export type TermMatch = readonly [term: number, weight: number];

function* beginningWith(terms: readonly string[], text: string): Generator<number> {
  for (let i = firstFrom(terms, text); terms[i]?.startsWith(text) === true; i++) yield i;
}

function wordMatches(
  terms: readonly string[],
  { text, stem }: QueryWord,
  isPartLookedFor: boolean,
): TermMatch[] {
  const own = asTerm(stem);
  const matches: TermMatch[] = [];
  const exact = firstFrom(terms, own);
  if (terms[exact] === own) matches.push([exact, 1]);
  if (text.length < BEGINNING_CHARACTERS_MIN && !/^\d/u.test(text)) return matches;
  if (text.length >= BEGINNING_CHARACTERS_MIN)
    for (const i of beginningWith(terms, text))
      if (i !== exact || terms[i] !== own) matches.push([i, BEGINNING_WEIGHT]);
  if (isPartLookedFor && isNumber(text)) matches.push(...numberMatches(terms, text));
  return matches;
}

/** Dates, amounts and times one part of which is the number; those that begin with it are found already. */
function numberMatches(terms: readonly string[], text: string): TermMatch[] {
  const matches: TermMatch[] = [];
  const end = firstFrom(terms, ':');
  for (let i = firstFrom(terms, '0'); i < end; i++) {
    const term = terms[i] ?? '';
    const isBeginning = text.length >= BEGINNING_CHARACTERS_MIN && term.startsWith(text);
    // Most terms are sorted out before they are taken apart.
    if (isBeginning || term.length <= text.length || !term.includes(text)) continue;
    if (/^\d+\D/u.test(term) && term.split(/\D/u).includes(text))
      matches.push([i, NUMBER_PART_WEIGHT]);
  }
  return matches;
}

const stretchMatches = (terms: readonly string[], stretch: string): TermMatch[] =>
  [...beginningWith(terms, stretch)].map((i) => [i, 1]);

/** The terms, ascending, that a unit of the query matches. */
export function matchesOfUnit(
  terms: readonly string[],
  query: SearchQuery,
  unit: number,
): TermMatch[] {
  const word = query.words[unit];
  if (word !== undefined) {
    const numbersBefore = query.words.slice(0, unit).filter(({ text }) => isNumber(text)).length;
    return wordMatches(terms, word, numbersBefore < NUMBER_PARTS_MAX);
  }
  return stretchMatches(terms, query.stretches[unit - query.words.length] ?? '');
}
