import type { Fact } from '../facts/fact.ts';
import { ledgerConstants } from '../ledger-constants.ts';
import { estimateTextTokens, type TokenCounting } from '../token-estimate.ts';
import type { Recall } from './recall.ts';

export interface RepairWorth {
  wantsRepair: boolean;
  /** What a repair call is asked for, the weightiest first. */
  missing: Fact[];
}

/**
 * Whether one more call is worth it: of what user and model said (tier 2), less than 85 % is held of what
 * is held or would fit into the room that is left, and at least three such facts are missing. `missing`
 * is what would fit. A heuristic: a fact is taken to cost its text and six tokens.
 */
export function repairWorth(
  recall: Recall,
  { roomTokens, counting }: { roomTokens: number; counting: TokenCounting },
): RepairWorth {
  const { factOverheadTokens, repairCallFactLimit, repairCallFacts, repairCallRecall } =
    ledgerConstants;
  const candidates = recall.missing
    .filter(({ tier }) => tier === 2)
    .toSorted((one, other) => other.weight - one.weight);
  const missing: Fact[] = [];
  let room = roomTokens;
  let weight = 0;
  for (const fact of candidates) {
    const tokens = estimateTextTokens(fact.text, counting) + factOverheadTokens.value;
    if (tokens > room) continue;
    room -= tokens;
    weight += fact.weight;
    missing.push(fact);
  }
  const { heldWeight } = recall.tiers[2];
  const isLow = heldWeight < repairCallRecall.value * (heldWeight + weight);
  return {
    wantsRepair: isLow && missing.length >= repairCallFacts.value,
    missing: missing.slice(0, repairCallFactLimit.value),
  };
}
