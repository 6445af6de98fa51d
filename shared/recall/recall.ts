import type { Excerpt } from './excerpts.ts';
import { chooseExcerpts } from './excerpts.ts';
import { lookUp } from './look-up.ts';
import { recallQuery } from './recall-query.ts';
import { saidIn, type KnownText } from './said-already.ts';
import type { Segment } from './segment.ts';

/** Passages that are looked at for what to show. */
const CANDIDATES = 48;

/**
 * Share of what a message asks for, weighed by how rare it is, that the best passage must have, else nothing is about
 * the same thing; and that each other one must have. So that questions about other conversations bring back little.
 */
const BEST_FIT_MIN = 0.25;
const FIT_MIN = 0.13;

/** Weight that the best passage must have: what stands everywhere (the name of a speaker) says nothing of what is asked. */
const WEIGHT_MIN = 1;

/** A message, and what it may bring back. */
export interface RecallAsked {
  message: string;
  lastAnswer?: string | undefined;
  segments: readonly Segment[];
  /** The last turn that is no longer in the context word for word. */
  throughSeq: number;
  /** Turns of which nothing may be shown. */
  hidden: ReadonlySet<number>;
  /** What the context says: statements of the snapshot, messages of the tail. */
  known: readonly KnownText[];
  /** Whether there is room for one more excerpt; counts those that it says yes to. */
  hasRoomFor: (excerpt: Excerpt) => boolean;
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
    limit: CANDIDATES,
  });
  const best = found.candidates[0];
  if (!best || best.fit < BEST_FIT_MIN || best.weight < WEIGHT_MIN) return [];
  return chooseExcerpts(
    found.candidates.filter(({ fit }) => fit >= FIT_MIN),
    {
      query,
      weights: found.weights,
      hasRoomFor: asked.hasRoomFor,
      isSaid: saidIn(asked.known),
    },
  );
}
