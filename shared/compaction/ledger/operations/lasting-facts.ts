import { workingItems, type Snapshot } from '#shared/conversation/documents/snapshot.ts';
import { extractFacts } from '#shared/compaction/facts/index/extract-facts.ts';
import { type Fact, factId } from '#shared/compaction/facts/index/fact.ts';
import { saidBy, type LastingFact } from '../items/item-facts.ts';

/**
 * The facts that a snapshot should go on saying: those of this run, and those that the items of the one
 * before say, whose turns are not read again. Each once, as it counts most: what was carried does not count less
 * because a tool shows it again.
 */
export function lastingFacts(
  previous: Snapshot | undefined,
  facts: readonly Fact[],
): readonly LastingFact[] {
  if (previous === undefined) return facts;
  const lasting = new Map<string, LastingFact>();
  for (const fact of extractFacts(workingItems(previous).map(saidBy)))
    lasting.set(factId(fact), { ...fact, isCarried: true });
  for (const fact of facts) {
    const earlier = lasting.get(factId(fact));
    const isWeaker = earlier !== undefined && earlier.tier < fact.tier;
    if (isWeaker) continue;
    lasting.set(factId(fact), { ...fact, ...(earlier?.isCarried && { isCarried: true }) });
  }
  return [...lasting.values()];
}
