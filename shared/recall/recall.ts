import {
  type Item,
  isAboutTurn,
  timelineSection,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import {
  type SearchQuery,
  PAIRS_ALONE,
  readSearchQuery,
  countUnits,
} from '#shared/search/find-in-text.ts';
import { cutHead, cutTail } from '#shared/text/cut.ts';
import { distinctUnits } from '#shared/text/words.ts';
import { stopWords } from '../search/search-words.ts';
import { dayWeights } from './days-asked.ts';
import { chooseExcerpts, type Excerpt, saidIn, type KnownText } from './excerpts.ts';
import { lookUp } from './look-up.ts';
import { type Passage, type Segment, segmentOfPassages } from './segment.ts';
import { isThanks, politeWords } from './small-talk.ts';

/** Passages that are looked at for what to show. */
const CANDIDATES = 48;

/**
 * Share of what a message asks for, weighed by how rare it is, that the best passage must have, else nothing is about
 * the same thing: so that questions about other conversations bring back little.
 */
const BEST_FIT_MIN = 0.25;
/** What each other passage must have, and which share of what the best one has: the rest only costs. */
const FIT_MIN = 0.13;
const FIT_SHARE_MIN = 0.3;

/** Weight that the best passage must have: what stands everywhere (the name of a speaker) says nothing of what is asked. */
const WEIGHT_MIN = 1;

/** A message, and what it may bring back. */
interface RecallAsked {
  message: string;
  lastAnswer?: string | undefined;
  segments: readonly Segment[];
  /** What left the snapshot: it leads to its turns. */
  archive?: Statements | undefined;
  /** The last turn that is no longer in the context word for word. */
  throughSeq: number;
  /** Turns of which nothing may be shown. */
  hidden: ReadonlySet<number>;
  /** What the context says: statements of the snapshot, messages of the tail. */
  known: readonly KnownText[];
  /** Whether there is room for one more excerpt; counts those that it says yes to. */
  hasRoomFor: (excerpt: Excerpt) => boolean;
}

/** How much a passage counts beside its words: for the days that the message names, and for what the archive says of it. */
function boostFor(
  { message, archive }: RecallAsked,
  query: SearchQuery,
): (passage: Passage) => number {
  const onDay = dayWeights(tellingParts(message)) ?? (() => 1);
  const ledTo = archive ? turnsLedTo(archive, query) : new Map<number, number>();
  return ({ at, seq }) => onDay(at) * (1 + (ledTo.get(seq) ?? 0));
}

/** What of the folded turns a message is about; nothing where nothing fits. The best first. */
export function recall(asked: RecallAsked): Excerpt[] {
  const { segments, throughSeq, hidden } = asked;
  const query = recallQuery(asked.message, asked.lastAnswer);
  if (!query) return [];
  const lookedUp = lookUp({
    segments: segments.map((segment) => ({ segment, throughSeq })),
    query,
    hidden,
    boost: boostFor(asked, query),
    limit: CANDIDATES,
  });
  const best = lookedUp.candidates[0];
  if (!best || best.fit < BEST_FIT_MIN || best.weight < WEIGHT_MIN) return [];
  const fitMin = Math.max(FIT_MIN, FIT_SHARE_MIN * best.fit);
  return chooseExcerpts(
    lookedUp.candidates.filter(({ fit }) => fit >= fitMin),
    {
      query,
      weights: lookedUp.weights,
      hasRoomFor: asked.hasRoomFor,
      isSaid: saidIn(asked.known),
    },
  );
}

/**
 * A query has room for some thirty words: of a longer message those of its end come first, where the question stands, then
 * those of its beginning. UTF-16 units.
 */
const END_CHARACTERS = 200;
const BEGINNING_CHARACTERS = 1_500;

/** Where a message says what it is about. */
const tellingParts = (text: string): string =>
  text.length <= END_CHARACTERS
    ? text
    : `${cutTail(text, END_CHARACTERS)}\n${cutHead(text.slice(0, -END_CHARACTERS), BEGINNING_CHARACTERS)}`;

/** What a text is about, as a look-up asks for it; nothing where it is about nothing. */
function queryOf(text: string): SearchQuery | undefined {
  const asked = readSearchQuery(tellingParts(text), PAIRS_ALONE);
  const words = asked.words.filter(
    ({ text: word }) => !stopWords.has(word) && !politeWords.has(word),
  );
  const query = { ...asked, words };
  return countUnits(query) > 0 ? query : undefined;
}

/**
 * What a turn's message is about: its own words or, where it has none ("And then?"), those of the last answer; nothing where
 * it only thanks or takes leave.
 */
function recallQuery(message: string, lastAnswer: string | undefined): SearchQuery | undefined {
  const query = queryOf(message);
  if (query || lastAnswer === undefined || isThanks(message)) return query;
  return queryOf(lastAnswer);
}

/** Share of what a message asks for, weighed by how rare it is, that a statement must have to lead to its turns. */
const STATEMENT_FIT_MIN = 0.5;
const STATEMENTS_MAX = 20;

/** Statements that are looked up as passages are; `seq` of a passage is the place of its statement, from 1. */
export interface Statements {
  segment: Segment;
  sources: readonly (readonly number[])[];
}

/** Makes statements findable. */
export function findableStatements(items: readonly Pick<Item, 'text' | 'sources'>[]): Statements {
  const passages = items.map(({ text }, i) => ({
    seq: i + 1,
    role: 'model' as const,
    at: new Date(0),
    text,
  }));
  return { segment: segmentOfPassages(passages), sources: items.map(({ sources }) => sources) };
}

/**
 * The turns that statements about the same thing come from, with how well the best of these fits (0.5 to about 1.5): a
 * statement may have words of the question that its turns lack.
 */
function turnsLedTo(
  { segment, sources }: Statements,
  query: SearchQuery,
): ReadonlyMap<number, number> {
  const fits = new Map<number, number>();
  const segments = [{ segment, throughSeq: Infinity }];
  for (const { passage, fit } of lookUp({ segments, query, limit: STATEMENTS_MAX }).candidates) {
    if (fit < STATEMENT_FIT_MIN) break;
    for (const seq of sources[passage.seq - 1] ?? [])
      fits.set(seq, Math.max(fits.get(seq) ?? 0, fit));
  }
  return fits;
}

/** A line of the timeline that answers a query: what the turns `from` to `through` were about. */
interface AskedTopic {
  title: string;
  from: number;
  through: number;
  /** `2026-11-21`. */
  day?: string;
}

/** Of more, the newest are told. */
const TOPICS_MAX = 20;

const firstOf = ({ sources }: Item): number => sources[0] ?? 0;

const topicOf = (item: Item): AskedTopic => ({
  title: item.text,
  from: firstOf(item),
  through: item.through ?? firstOf(item),
  ...(item.at !== undefined && { day: item.at }),
});

/** Whether a topic answers: of the time that the query names, else one whose title shares a word with it. */
function answersTo(query: string): (item: Item) => boolean {
  const weightOf = dayWeights(query);
  if (weightOf !== undefined) return ({ at }) => at !== undefined && weightOf(new Date(at)) > 1;
  const asked = distinctUnits(query);
  return ({ text }) => [...distinctUnits(text)].some((unit) => asked.has(unit));
}

/**
 * The topics of a snapshot, archived ones included, that answer a query, in their order; at most 20. None of the turns
 * from `beforeSeq` on, and none of a hidden one, whose erasure is under way.
 */
export function topicsAsked(
  snapshot: Snapshot,
  query: string,
  { beforeSeq, hidden }: { beforeSeq: number; hidden: readonly number[] },
): AskedTopic[] {
  const answers = answersTo(query);
  const archived = snapshot.archive.filter(({ section }) => section === timelineSection);
  return [...archived, ...(snapshot.sections[timelineSection] ?? [])]
    .filter((item) => firstOf(item) < beforeSeq && !hidden.some((seq) => isAboutTurn(item, seq)))
    .filter(answers)
    .toSorted((one, other) => firstOf(one) - firstOf(other))
    .slice(-TOPICS_MAX)
    .map(topicOf);
}
