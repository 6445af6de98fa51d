import { weightsOf, scoreTexts, type RankedTexts } from '../search/rank-texts.ts';
import { unitsOf, type QueryWord, type SearchQuery } from '../search/search-query.ts';
import { asTerm } from './index-terms.ts';
import { readPosting } from './postings.ts';
import type { Passage, Segment } from './segment.ts';

/** As `match-word.ts` weighs them: a word that begins with what is asked for, a number that has it as a part. */
const BEGINNING_WEIGHT = 0.5;
const BEGINNING_CHARACTERS_MIN = 3;
const NUMBER_PART_WEIGHT = 0.5;
/** What tools were asked and answered comes second to what people said. */
const TOOLS_WEIGHT = 0.5;

/** The first of `terms` that is not before `text`. */
function firstFrom(terms: readonly string[], text: string): number {
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
type TermMatch = readonly [term: number, weight: number];

function* beginningWith(terms: readonly string[], text: string): Generator<number> {
  for (let i = firstFrom(terms, text); terms[i]?.startsWith(text) === true; i++) yield i;
}

function wordMatches(terms: readonly string[], { text, stem }: QueryWord): TermMatch[] {
  const own = asTerm(stem);
  const matches: TermMatch[] = [];
  const exact = firstFrom(terms, own);
  if (terms[exact] === own) matches.push([exact, 1]);
  if (text.length < BEGINNING_CHARACTERS_MIN && !/^\d/u.test(text)) return matches;
  if (text.length >= BEGINNING_CHARACTERS_MIN)
    for (const i of beginningWith(terms, text))
      if (i !== exact || terms[i] !== own) matches.push([i, BEGINNING_WEIGHT]);
  if (/^\d+$/u.test(text)) matches.push(...numberMatches(terms, text));
  return matches;
}

/** Dates, amounts and times one part of which is the number; those that begin with it are found already. */
function numberMatches(terms: readonly string[], text: string): TermMatch[] {
  const matches: TermMatch[] = [];
  const end = firstFrom(terms, ':');
  for (let i = firstFrom(terms, '0'); i < end; i++) {
    const term = terms[i] ?? '';
    const isBeginning = text.length >= BEGINNING_CHARACTERS_MIN && term.startsWith(text);
    if (!isBeginning && term !== text && /^\d+\D/u.test(term) && term.split(/\D/u).includes(text))
      matches.push([i, NUMBER_PART_WEIGHT]);
  }
  return matches;
}

const stretchMatches = (terms: readonly string[], stretch: string): TermMatch[] =>
  [...beginningWith(terms, stretch)].map((i) => [i, 1]);

function matchesOfUnit(terms: readonly string[], query: SearchQuery, unit: number): TermMatch[] {
  const word = query.words[unit];
  if (word !== undefined) return wordMatches(terms, word);
  return stretchMatches(terms, query.stretches[unit - query.words.length] ?? '');
}

/** Passages before `end` with what the matches are of, ascending. */
function found(
  segment: Segment,
  matches: readonly TermMatch[],
  end: number,
): RankedTexts['found'][number] {
  const counts = new Map<number, number>();
  for (const [term, weight] of matches)
    readPosting(segment.packed, segment.starts[term] ?? 0, {
      end,
      add: (text, count) => counts.set(text, (counts.get(text) ?? 0) + weight * count),
    });
  const texts = [...counts.keys()];
  if (matches.length > 1) texts.sort((a, b) => a - b);
  return { texts, counts: texts.map((text) => counts.get(text) ?? 0) };
}

/** A segment as far as a look-up may see it. */
export interface Visible {
  segment: Segment;
  /** The last turn that counts. */
  throughSeq: number;
}

/** How many passages count: those of turns up to `throughSeq` come first. */
export function visiblePassages({ segment: { passages }, throughSeq }: Visible): number {
  if ((passages.at(-1)?.seq ?? 0) <= throughSeq) return passages.length;
  return passages.findIndex(({ seq }) => seq > throughSeq);
}

/** A passage that fits, and how well: the share of what the query asks for, weighed by how rare it is, 0 to about 1.5. */
export interface Candidate {
  passage: Passage;
  fit: number;
  /** The same as a sum of rarities. */
  weight: number;
}

/** The best of many, without sorting all of them. */
function bestOf(limit: number) {
  let best: Candidate[] = [];
  let least = 0;
  return {
    offer(candidate: Candidate): void {
      if (candidate.fit <= least) return;
      best.push(candidate);
      if (best.length < 4 * limit) return;
      best = best.toSorted(byFit).slice(0, limit);
      least = best.at(-1)?.fit ?? 0;
    },
    list: () => best.toSorted(byFit).slice(0, limit),
  };
}

/** Of equal ones the newest first. */
const byFit = (a: Candidate, b: Candidate) => b.fit - a.fit || b.passage.seq - a.passage.seq;

/** What the units of the query tell, over all segments. */
function weigh(
  parts: readonly { found: RankedTexts['found']; passages: number; words: number }[],
  units: number,
) {
  const texts = parts.reduce((sum, { passages }) => sum + passages, 0);
  const words = parts.reduce((sum, part) => sum + part.words, 0);
  const textsWith = Array.from({ length: units }, (_, unit) =>
    parts.reduce((sum, part) => sum + (part.found[unit]?.texts.length ?? 0), 0),
  );
  const meanLength = Math.max(1, words / Math.max(1, texts));
  return { weights: weightsOf({ texts, meanLength, textsWith }), meanLength };
}

/** How much a passage counts for whose words it is. */
const ofRole = ({ role }: Passage) => (role === 'tool' ? TOOLS_WEIGHT : 1);

/** What a look-up asks, and of what. */
export interface LookUp {
  segments: readonly Visible[];
  query: SearchQuery;
  /** Turns of which nothing may be found. */
  hidden?: ReadonlySet<number>;
  /** How much a passage counts beside its words; default 1. */
  boost?: (passage: Passage) => number;
  limit: number;
}

/**
 * The passages that fit best, the best first, and what each unit of the query tells. Takes time for what is found:
 * words that stand in most passages cost most.
 */
export function lookUp(asked: LookUp): { candidates: Candidate[]; weights: number[] } {
  const { query, hidden, boost = () => 1 } = asked;
  const units = unitsOf(query);
  const parts = asked.segments.map((each) => {
    const { segment } = each;
    const end = visiblePassages(each);
    const lengths = segment.lengths.slice(0, end);
    return {
      segment,
      lengths,
      passages: end,
      words: lengths.reduce((sum, length) => sum + length, 0),
      found: Array.from({ length: units }, (_, unit) =>
        found(segment, matchesOfUnit(segment.terms, query, unit), end),
      ),
    };
  });
  const { weights, meanLength } = weigh(parts, units);
  // Pairs of characters that nobody wrote stand for no word: most of them are where two words meet.
  const isAsked = (unit: number) =>
    unit < query.words.length || parts.some((part) => (part.found[unit]?.texts.length ?? 0) > 0);
  const whole = weights.reduce((sum, weight, unit) => sum + (isAsked(unit) ? weight : 0), 0);
  const best = bestOf(asked.limit);
  for (const { segment, lengths, found: ofUnits } of parts) {
    const scores = scoreTexts(
      { lengths, found: ofUnits },
      { weights, meanLength, givesCredit: (text) => segment.passages[text]?.role !== 'tool' },
    );
    for (const [i, score] of scores.entries()) {
      const passage = segment.passages[i];
      if (score === 0 || !passage || hidden?.has(passage.seq)) continue;
      const weight = score * ofRole(passage) * boost(passage);
      best.offer({ passage, fit: weight / whole, weight });
    }
  }
  return { candidates: best.list(), weights };
}
