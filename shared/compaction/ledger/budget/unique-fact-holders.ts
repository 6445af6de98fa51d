import type { ArchivedItem } from '#shared/conversation/documents/snapshot.ts';
import type { Fact } from '#shared/compaction/facts/index/fact.ts';
import { indexFacts, isHeld } from '#shared/compaction/facts/index/fact-index.ts';
import { textReader, type KnownText } from '#shared/compaction/facts/index/text-facts.ts';

/**
 * Which items tier-1 facts depend on, with the weight of those facts. `order` are the items that may leave,
 * the first to go first: each fact counts for the last of those that say it, so that one of them stays.
 * `otherTexts` stay anyway; what they say depends on no item. Items × facts that items alone say.
 */
export function uniqueFactHolders(
  order: readonly ArchivedItem[],
  facts: readonly Fact[],
  otherTexts: readonly KnownText[],
): ReadonlyMap<string, number> {
  const others = indexFacts(otherTexts);
  const read = textReader();
  const all = indexFacts(order.map(({ text }) => read(text)));
  let left = facts.filter(
    (fact) =>
      fact.tier === 1 && fact.kind !== 'instruction' && isHeld(fact, all) && !isHeld(fact, others),
  );
  const weights = new Map<string, number>();
  for (const { id, text } of order.toReversed()) {
    if (left.length === 0) break;
    const own = indexFacts([read(text)]);
    const held = new Set(left.filter((fact) => isHeld(fact, own)));
    if (held.size === 0) continue;
    left = left.filter((fact) => !held.has(fact));
    weights.set(
      id,
      [...held].reduce((sum, { weight }) => sum + weight, 0),
    );
  }
  return weights;
}
