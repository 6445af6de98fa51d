import { precisionConstants } from '../precision-constants.ts';
import type { SaidSentence } from './cited-turns.ts';
import { shareIn } from './word-overlap.ts';

/** How far a record of a tool goes on around the line that a statement is about. */
const reachOf = ({ speaker }: SaidSentence): number =>
  speaker === 'tool'
    ? precisionConstants.alignedRecordLines.value
    : precisionConstants.alignedNeighbours.value;

/**
 * What is said about something: the sentences that share its words, by far or nearly the most of all, and
 * their neighbours. Undefined where no sentence shares enough of them to tell. A heuristic: words count, their
 * order does not. Linear.
 */
export function alignedSentences(
  topics: ReadonlySet<string>,
  sentences: readonly SaidSentence[],
): SaidSentence[] | undefined {
  const shares = sentences.map((sentence) => shareIn(topics, sentence.topics));
  const best = shares.reduce((most, share) => Math.max(most, share), 0);
  const { alignedShare, alignedMinimum, alignedTopics } = precisionConstants;
  if (best < alignedMinimum.value || best * topics.size < alignedTopics.value) return undefined;
  const taken = new Uint8Array(sentences.length);
  for (const [at, sentence] of sentences.entries()) {
    if ((shares[at] ?? 0) < alignedShare.value * best) continue;
    const reach = reachOf(sentence);
    taken.fill(1, Math.max(0, at - reach), at + reach + 1);
  }
  return sentences.filter((_, at) => taken[at] === 1);
}
