import { holdsPhrase, type Phrases } from '#shared/compaction/facts/languages/phrases.ts';
import { textKey } from './item-text.ts';

/** A figure at the edge may go on: `pays 5` is no quote of `pays 5.50`. */
const figureAtEdge = /^\d|\d$/;

/** Whether a statement stands in texts as it is, but for case, width, blanks and its final punctuation. */
export function standsIn(phrases: Phrases, statement: string): boolean {
  const key = textKey(statement);
  return key !== '' && !figureAtEdge.test(key) && holdsPhrase(phrases, key);
}
