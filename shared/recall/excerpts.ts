import { sentenceSpans } from '#shared/text/sentences.ts';
import { oneLine } from '#shared/text/one-line.ts';
import { createFinder } from '../search/find-in-text.ts';
import type { SearchQuery } from '../search/search-query.ts';
import { cutHead, cutTail } from '#shared/text/cut.ts';
import type { Candidate } from './look-up.ts';
import type { PassageRole } from './segment.ts';
import { TELLING_MIN, toldBy, type Telling } from './telling.ts';

/**
 * UTF-16 units that an excerpt shows: much of what fits best, for the answer may stand beside the words that were
 * found, and little of the rest, for more passages have room then. Chosen by what readers could answer
 * (docs/decisions/compaction/0038).
 */
const EXCERPT_CHARACTERS = [240, 240, 160, 160] as const;
/** UTF-16 units of each further one. */
const REST_CHARACTERS = 110;

/** Of one message: a long one would take the room of all others. */
const MESSAGE_EXCERPTS = 2;

/** Of a sentence that is longer than the excerpt, the share before the first word that was found. */
const BEFORE_FRACTION = 0.3;

/** What recall shows of a turn. */
export interface Excerpt {
  seq: number;
  /** Orders the excerpts of a turn. */
  place: number;
  role: PassageRole;
  at: Date;
  /** On one line; `…` where something was left out. */
  text: string;
}

interface Span {
  start: number;
  end: number;
}

/** What an excerpt is chosen by. */
interface Wanted {
  query: SearchQuery;
  /** What each unit of the query tells. */
  weights: readonly number[];
  telling: Telling;
}

/**
 * The place of the sentence that has most of what is asked for, of equal ones the one that tells most, and where what
 * was found begins in it.
 */
function bestSentence(
  text: string,
  spans: readonly Span[],
  { query, weights, telling }: Wanted,
): { index: number; place: number } {
  const { places } = createFinder(query)(text);
  let best = { index: 0, place: spans[0]?.start ?? 0, weight: -1, told: -1 };
  for (const [index, { start, end }] of spans.entries()) {
    const inside = places.filter((place) => place.index >= start && place.index < end);
    const units = new Set(inside.map(({ unit }) => unit));
    const told = toldBy(text.slice(start, end), telling);
    const weight =
      told < TELLING_MIN ? 0 : [...units].reduce((sum, unit) => sum + (weights[unit] ?? 0), 0);
    if (weight > best.weight || (weight === best.weight && told > best.told))
      best = { index, place: inside[0]?.index ?? start, weight, told };
  }
  return best;
}

/** As many of the sentences around one as have room: those after it first, where the answer stands more often. */
function withNeighbours(spans: readonly Span[], index: number, characters: number): Span {
  let [first, last] = [index, index];
  const lengthOf = (from: number, to: number) =>
    (spans[to]?.end ?? Infinity) - (spans[from]?.start ?? 0);
  for (;;) {
    if (last + 1 < spans.length && lengthOf(first, last + 1) <= characters) last += 1;
    else if (first > 0 && lengthOf(first - 1, last) <= characters) first -= 1;
    else return { start: spans[first]?.start ?? 0, end: spans[last]?.end ?? 0 };
  }
}

/** A stretch of a long sentence around what was found, from one blank to another where there are some. */
function within(
  text: string,
  { start, end }: Span,
  { place, characters }: { place: number; characters: number },
): Span {
  const before = Math.min(place - start, Math.floor(characters * BEFORE_FRACTION));
  const from = Math.max(start, Math.min(place - before, end - characters));
  const to = Math.min(end, from + characters);
  const blank = text.slice(from, place).search(/\s/u);
  const words = to < end ? text.slice(place, to).search(/\s\S*$/u) : -1;
  return {
    start: from === start || blank === -1 ? from : from + blank + 1,
    end: words === -1 ? to : place + words,
  };
}

const EMPHASIS = /(?<![\p{L}\p{N}*])\*\*(?=[\p{L}\p{N}"'(])([^*\n]+)\*\*(?![\p{L}\p{N}*])/gu;
const HEADING = /^#{2,6}\s+/gmu;

/** Without the marks of Markdown that only take room. */
const withoutMarks = (text: string): string =>
  text.includes('**') || text.includes('##')
    ? text.replaceAll(EMPHASIS, '$1').replaceAll(HEADING, '')
    : text;

/**
 * The sentence of a passage that fits best and as much around it as has room, on one line of at most `characters`
 * UTF-16 units.
 */
function cutExcerpt(marked: string, characters: number, wanted: Wanted): string {
  const passage = withoutMarks(marked);
  const whole = oneLine(passage);
  if (whole.length <= characters) return whole;
  // Two are for the dots.
  const room = Math.max(1, characters - 2);
  const spans = sentenceSpans(passage);
  const { index, place } = bestSentence(passage, spans, wanted);
  const sentence = spans[index] ?? { start: 0, end: passage.length };
  const { start, end } =
    sentence.end - sentence.start > room
      ? within(passage, sentence, { place, characters: room })
      : withNeighbours(spans, index, room);
  // A cut within a sentence may have hit a grapheme, at either end.
  const upToEnd = cutHead(passage, end);
  const shown = oneLine(cutTail(upToEnd, Math.max(0, upToEnd.length - start)));
  const isCutBefore = passage.slice(0, start).trim() !== '';
  const isCutAfter = passage.slice(end).trim() !== '';
  return `${isCutBefore ? '…' : ''}${shown}${isCutAfter ? '…' : ''}`;
}

/** How the chosen excerpts are bounded, and what they must not repeat. */
interface ExcerptBounds extends Wanted {
  /** Whether there is room for one more; called with each in turn, and counts it where it says yes. */
  hasRoomFor: (excerpt: Excerpt) => boolean;
  /** Whether the context says it already, or it tells nothing. */
  isSaid: (text: string) => boolean;
}

const charactersAt = (rank: number): number => EXCERPT_CHARACTERS[rank] ?? REST_CHARACTERS;

const excerptFor = ({ passage: { seq, role, at }, place }: Candidate, text: string): Excerpt => ({
  seq,
  place,
  role,
  at,
  text,
});

/**
 * The excerpts of the candidates that have room, in their order; none twice, none that tells nothing, and none that the
 * context says already.
 */
export function chooseExcerpts(
  candidates: readonly Candidate[],
  { hasRoomFor, isSaid, ...wanted }: ExcerptBounds,
): Excerpt[] {
  const chosen: Excerpt[] = [];
  const shown = new Set<string>();
  const shownOf = new Map<string, number>();
  for (const candidate of candidates) {
    const { passage } = candidate;
    const message = `${passage.seq}/${passage.role}`;
    const ofMessage = shownOf.get(message) ?? 0;
    if (ofMessage === MESSAGE_EXCERPTS) continue;
    const text = cutExcerpt(passage.text, charactersAt(chosen.length), wanted);
    if (shown.has(text) || isSaid(text)) continue;
    const excerpt = excerptFor(candidate, text);
    if (!hasRoomFor(excerpt)) continue;
    shown.add(text);
    shownOf.set(message, ofMessage + 1);
    chosen.push(excerpt);
  }
  return chosen;
}
