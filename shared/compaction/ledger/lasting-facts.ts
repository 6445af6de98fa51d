import { workingItems, type ArchivedItem, type Snapshot } from '../../conversation/snapshot.ts';
import { extractFacts } from '../facts/extract-facts.ts';
import type { Fact } from '../facts/fact.ts';
import type { Utterance } from '../facts/utterance.ts';
import { factId } from './repair-candidates.ts';
import { lastSource } from './sources.ts';

/** What an item says, as if the user had said it: what was worth an item is worth keeping. */
const saidBy = (item: ArchivedItem): Utterance => ({
  seq: lastSource(item),
  speaker: 'user',
  text: item.by === 'code' ? (item.quote ?? item.text) : item.text,
  at: new Date(0),
});

/**
 * The facts that a snapshot should go on saying: those of this run, and those that the items of the one
 * before say, whose turns are not read again. Each once.
 */
export function lastingFacts(
  previous: Snapshot | undefined,
  facts: readonly Fact[],
): readonly Fact[] {
  if (previous === undefined) return facts;
  const earlier = extractFacts(workingItems(previous).map(saidBy));
  return [...new Map([...earlier, ...facts].map((fact) => [factId(fact), fact])).values()];
}
