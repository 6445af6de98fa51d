import type { ArchivedItem } from '#shared/conversation/documents/snapshot.ts';
import { precisionConstants } from '#shared/compaction/policy/precision-constants.ts';
import { shareIn, topicWords, distinctWords } from '#shared/text/words.ts';

/** An item that was known before this run, with the beginnings of its telling words. */
export interface KnownTopics {
  sources: readonly number[];
  topics: ReadonlySet<string>;
}

export const knownTopics = (items: readonly ArchivedItem[]): KnownTopics[] =>
  items.map(({ text, sources }) => ({ sources, topics: topicWords(distinctWords(text)) }));

/** Fewer telling words are in many texts. */
const TELLING_WORDS = 3;

/**
 * The turns of the known items that a text takes in: a model that merges items does not see which turns they cite, and
 * the erasure of such a turn must find the merged words. Heuristic: half of an item's telling words.
 */
export function inheritedSources(text: string, known: readonly KnownTopics[]): number[] {
  const own = topicWords(distinctWords(text));
  return known.flatMap(({ sources, topics }) =>
    topics.size >= TELLING_WORDS && shareIn(topics, own) >= precisionConstants.inheritedShare.value
      ? sources
      : [],
  );
}
