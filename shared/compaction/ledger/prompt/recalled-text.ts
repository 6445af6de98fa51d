import type { Fact, FactTier } from '#shared/compaction/facts/index/fact.ts';
import { indexFacts, isHeld } from '#shared/compaction/facts/index/fact-index.ts';
import type { KnownText } from '#shared/compaction/facts/index/text-facts.ts';

/** How much of one tier stands somewhere. */
interface TierRecall {
  facts: number;
  held: number;
  /** Sum of the weights of all facts, and of the ones that are held. */
  weight: number;
  heldWeight: number;
}

export interface Recall {
  tiers: Record<FactTier, TierRecall>;
  /** What is held nowhere, in order of first saying. */
  missing: Fact[];
}

/** Part of the weight that is held, 0–1; of nothing everything is held. */
export const shareHeld = ({ weight, heldWeight }: TierRecall): number =>
  weight === 0 ? 1 : heldWeight / weight;

const emptyTier = (): TierRecall => ({ facts: 0, held: 0, weight: 0, heldWeight: 0 });

/**
 * Which facts the snapshot, or what stays in the context beside it (pins, tail), still says, by tier and
 * weighted. `missing` is the rest. Linear in texts and facts.
 */
export function toRecalledText(
  facts: readonly Fact[],
  context: { snapshotTexts: readonly KnownText[]; keptTexts: readonly KnownText[] },
): Recall {
  const index = indexFacts([...context.snapshotTexts, ...context.keptTexts]);
  const tiers = { 1: emptyTier(), 2: emptyTier(), 3: emptyTier() };
  const missing: Fact[] = [];
  for (const fact of facts) {
    const tier = tiers[fact.tier];
    tier.facts += 1;
    tier.weight += fact.weight;
    if (isHeld(fact, index)) {
      tier.held += 1;
      tier.heldWeight += fact.weight;
    } else missing.push(fact);
  }
  return { tiers, missing };
}
