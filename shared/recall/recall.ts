import type { SearchQuery } from '../search/search-query.ts';
import { dayWeights } from './days-asked.ts';
import { chooseExcerpts, type Excerpt } from './excerpts.ts';
import { lookUp } from './look-up.ts';
import { recallQuery, tellingParts } from './recall-query.ts';
import { saidIn, type KnownText } from './said-already.ts';
import type { Passage, Segment } from './segment.ts';
import { tellingAmong } from './telling.ts';
import { turnsLedTo, type Statements } from './turns-led-to.ts';

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
  /** When it is sent. */
  now: Date;
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
  { message, now, archive }: RecallAsked,
  query: SearchQuery,
): (passage: Passage) => number {
  const onDay = dayWeights(tellingParts(message), now) ?? (() => 1);
  const ledTo = archive ? turnsLedTo(archive, query) : new Map<number, number>();
  return ({ at, seq }) => onDay(at) * (1 + (ledTo.get(seq) ?? 0));
}

/** What of the folded turns a message is about; nothing where nothing fits. The best first. */
export function recall(asked: RecallAsked): Excerpt[] {
  const { segments, throughSeq, hidden } = asked;
  const query = recallQuery(asked.message, asked.lastAnswer);
  if (!query) return [];
  const found = lookUp({
    segments: segments.map((segment) => ({ segment, throughSeq })),
    query,
    hidden,
    boost: boostFor(asked, query),
    limit: CANDIDATES,
  });
  const best = found.candidates[0];
  if (!best || best.fit < BEST_FIT_MIN || best.weight < WEIGHT_MIN) return [];
  const fitMin = Math.max(FIT_MIN, FIT_SHARE_MIN * best.fit);
  const telling = tellingAmong(segments);
  return chooseExcerpts(
    found.candidates.filter(({ fit }) => fit >= fitMin),
    {
      query,
      weights: found.weights,
      hasRoomFor: asked.hasRoomFor,
      telling,
      isSaid: saidIn(asked.known, telling),
    },
  );
}
