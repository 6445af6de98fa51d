import { precisionConstants } from '#shared/compaction/policy/precision-constants.ts';
import { shareIn, topicWords, distinctWords } from '#shared/text/words.ts';
import type { Vocabulary } from './vocabulary.ts';

/** Fewer telling words may all be others than those that were said: "vegetarian". */
const JUDGED_WORDS = 3;

const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u;

/** Whether most of the words are of a script without blanks. */
function isUnspaced(words: ReadonlySet<string>): boolean {
  let count = 0;
  for (const word of words) if (unspaced.test(word)) count += 1;
  return 2 * count > words.size;
}

/**
 * Whether some of the telling words of a statement are in the vocabulary of the folded turns, or in what it said before.
 * A statement of one or two such words, and one in another script than the turns, is not judged: it may be a paraphrase
 * or a translation. Heuristic.
 */
export function isBorneOut(
  text: string,
  vocabulary: Vocabulary,
  earlierTexts: readonly string[] = [],
): boolean {
  const topics = topicWords(distinctWords(text));
  const least = precisionConstants.borneOutShare.value;
  if (topics.size < JUDGED_WORDS || vocabulary.holdsShare(topics, least)) return true;
  const earlier = topicWords(distinctWords(earlierTexts.join('\n')));
  return shareIn(topics, earlier) >= least || isUnspaced(topics) !== isUnspaced(vocabulary.all());
}
