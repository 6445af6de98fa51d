import {
  countUnits,
  type SearchQuery,
  type QueryWord,
  BEGINNING_WEIGHT,
  BEGINNING_CHARACTERS_MIN,
} from '#shared/search/find-in-text.ts';
import { scoreTexts, textWeights } from '../search/rank-texts.ts';
import {
  readPosting,
  type Posting,
  type Passage,
  type PassageRole,
  type Segment,
  asTerm,
} from './segment.ts';

/**
 * The user says what holds in few words, assistants say it again in many; what tools were asked and answered comes second
 * to what people said. Chosen on LoCoMo and BEAM (docs/guides/recall.md).
 */
const ROLE_WEIGHTS: Readonly<Record<PassageRole, number>> = { user: 1.05, model: 1, tool: 0.5 };

const sumOf = <T>(items: readonly T[], figure: (item: T) => number): number =>
  items.reduce((sum, item) => sum + figure(item), 0);

/** Nobody asks for more at once: of a long message a passage need not have a share of every word. */
const WHOLE_UNITS = 6;

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

/** A passage that fits, and how well: the share of what the query asks for, weighed by how rare it is, times its boost. */
export interface Candidate {
  passage: Passage;
  /** Its place in its segment: what was said later stands later. */
  place: number;
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
      if (candidate.fit < least) return;
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

/** A segment, and the terms in it that each unit of the query matches. */
interface Part {
  segment: Segment;
  /** Passages that count. */
  passages: number;
  matches: readonly TermMatch[][];
}

const unitNumbers = (query: SearchQuery): number[] =>
  Array.from({ length: countUnits(query) }, (_, unit) => unit);

function partOf(visible: Visible, query: SearchQuery): Part {
  const { segment } = visible;
  const matches = unitNumbers(query).map((unit) => matchesOfUnit(segment.terms, query, unit));
  return { segment, passages: visiblePassages(visible), matches };
}

/** The passages that a unit of the query stands in, ascending. */
function found({ segment, passages, matches }: Part, unit: number): Posting {
  const { packed, starts } = segment;
  const [first, ...others] = (matches[unit] ?? []).map(([term, weight]) => ({
    ...readPosting(packed, starts[term] ?? 0, passages),
    weight,
  }));
  if (!first) return { texts: [], counts: [] };
  if (others.length === 0 && first.weight === 1) return first;
  const sums = new Map<number, number>();
  for (const { texts, counts, weight } of [first, ...others])
    for (const [i, text] of texts.entries())
      sums.set(text, (sums.get(text) ?? 0) + weight * (counts[i] ?? 0));
  const texts = [...sums.keys()].toSorted((a, b) => a - b);
  return { texts, counts: texts.map((text) => sums.get(text) ?? 0) };
}

/** What was found of each unit, by part, and how many passages have it. */
function foundIn(parts: readonly Part[], query: SearchQuery) {
  const units = unitNumbers(query);
  const ofParts = parts.map((part) => units.map((unit) => found(part, unit)));
  const textsWith = units.map((unit) => sumOf(ofParts, (part) => part[unit]?.texts.length ?? 0));
  return { ofParts, textsWith };
}

/** What a look-up asks, and of what. */
interface LookUp {
  /** The newest turns first. */
  segments: readonly Visible[];
  query: SearchQuery;
  /** Turns of which nothing may be found. */
  hidden?: ReadonlySet<number>;
  /** How much a passage counts beside its words; default 1. */
  boost?: (passage: Passage) => number;
  limit: number;
}

/**
 * The passages that fit best, the best first, and what each unit of the query tells. Takes time for what is found.
 */
export function lookUp(asked: LookUp): { candidates: Candidate[]; weights: number[] } {
  const { query, hidden, boost = () => 1 } = asked;
  const parts = asked.segments.map((visible) => partOf(visible, query));
  const { ofParts, textsWith } = foundIn(parts, query);
  const passages = sumOf(parts, (part) => part.passages);
  const words = sumOf(parts, ({ segment }) => segment.words);
  const texts = sumOf(parts, ({ segment }) => segment.passages.length);
  const meanLength = Math.max(1, words / Math.max(1, texts));
  const weights = textWeights(passages, textsWith);
  // Pairs of characters that nobody wrote stand for no word: most of them are where two words meet.
  const isAsked = (unit: number) => unit < query.words.length || (textsWith[unit] ?? 0) > 0;
  const asksFor = weights.filter((_, unit) => isAsked(unit)).toSorted((a, b) => b - a);
  const whole = sumOf(asksFor.slice(0, WHOLE_UNITS), (weight) => weight);
  const best = bestOf(asked.limit);
  for (const [n, { segment, passages: length }] of parts.entries()) {
    const scored = scoreTexts(
      { length, lengths: segment.lengths, found: ofParts[n] ?? [] },
      { weights, meanLength, givesCredit: (text) => segment.passages[text]?.role !== 'tool' },
    );
    for (const { text, score } of scored) {
      const passage = segment.passages[text];
      if (!passage || hidden?.has(passage.seq)) continue;
      const weight = score * ROLE_WEIGHTS[passage.role] * boost(passage);
      best.offer({ passage, place: text, fit: weight / whole, weight });
    }
  }
  return { candidates: best.list(), weights };
}

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
  const wanted = asTerm(stem);
  const exact = firstFrom(terms, wanted);
  const matches: TermMatch[] = terms[exact] === wanted ? [[exact, 1]] : [];
  if (text.length < BEGINNING_CHARACTERS_MIN) return matches;
  for (const i of beginningWith(terms, text))
    if (i !== exact || terms[i] !== wanted) matches.push([i, BEGINNING_WEIGHT]);
  return matches;
}

const stretchMatches = (terms: readonly string[], stretch: string): TermMatch[] =>
  [...beginningWith(terms, stretch)].map((i) => [i, 1]);

/** The terms, ascending, that a unit of the query matches. */
function matchesOfUnit(terms: readonly string[], query: SearchQuery, unit: number): TermMatch[] {
  const word = query.words[unit];
  return word === undefined
    ? stretchMatches(terms, query.stretches[unit - query.words.length] ?? '')
    : wordMatches(terms, word);
}
