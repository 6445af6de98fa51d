import { headOf } from '../../text-cut.ts';
import type { Fact, FactTier } from '../facts/fact.ts';
import { indexFacts, isHeld } from '../facts/fact-index.ts';
import type { KnownText } from '../facts/text-facts.ts';
import { ledgerConstants } from '../ledger-constants.ts';
import type { FilledSnapshot } from './fill-room.ts';
import type { DroppedItem, Precision, RepairedItem } from './precision-gate.ts';
import { shareHeld, type Recall } from './recall.ts';
import type { VerbatimRepair } from './repair-verbatim.ts';

/** How much of a tier the context still says. `share` is weighted, 0–1. */
export type TierReport = {
  facts: number;
  /** In the working layer, the pins or the tail. */
  held: number;
  /** Not there, but in the archive layer. */
  archived: number;
  share: number;
};

/** What verification found, as it is stored with a compaction. Counts are complete, lists are bounded. */
export type LedgerReport = {
  recall: { tier1: TierReport; tier2: TierReport; tier3: TierReport };
  precision: { checked: number; repaired: number; dropped: number };
  /** Items whose figures their turns did not hold, replaced by words of those turns. */
  repairedItems: RepairedItem[];
  droppedItems: DroppedItem[];
  /** Sentences of turns that code put back. */
  verbatim: { added: number; tokens: number; constraintTokens: number; archived: number };
  /** Sentences that code put into the room that was left. With `verbatim` at most a quarter of the budget, constraints aside. */
  filled: { added: number; tokens: number };
  /** Items that were evicted to the archive. */
  evicted: number;
  /** Refused operations by reason. */
  rejected: Record<string, number>;
  /** Tier-1 facts that the context no longer says, the weightiest first. */
  leftOut: { text: string; seq: number; archived: boolean }[];
  leftOutCount: number;
  constraintsOverBudget: boolean;
};

export interface ReportInput {
  precision: Precision;
  repair: Pick<VerbatimRepair, 'added' | 'tokens' | 'constraintTokens' | 'archived'>;
  filled: Pick<FilledSnapshot, 'added' | 'tokens'>;
  recall: Recall;
  archiveTexts: readonly KnownText[];
  evicted: number;
  constraintsOverBudget: boolean;
  rejected: readonly { reason: string }[];
}

const short = (text: string): string => headOf(text, ledgerConstants.reportTextCharacters.value);
const bounded = <T>(list: readonly T[]): T[] =>
  list.slice(0, ledgerConstants.reportListLimit.value);

function countReasons(rejected: readonly { reason: string }[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { reason } of rejected) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return Object.fromEntries(counts);
}

function tierReport(recall: Recall, tier: FactTier, archived: ReadonlySet<Fact>): TierReport {
  const { facts, held } = recall.tiers[tier];
  const inArchive = recall.missing.filter((fact) => fact.tier === tier && archived.has(fact));
  return { facts, held, archived: inArchive.length, share: shareHeld(recall.tiers[tier]) };
}

/** The stored form of what the steps of a verification found. */
export function ledgerReport(input: ReportInput): LedgerReport {
  const { precision, repair, recall } = input;
  const archiveIndex = indexFacts(input.archiveTexts);
  const archived = new Set(recall.missing.filter((fact) => isHeld(fact, archiveIndex)));
  const lost = recall.missing
    .filter(({ tier }) => tier === 1)
    .toSorted((one, other) => other.weight - one.weight);
  return {
    recall: {
      tier1: tierReport(recall, 1, archived),
      tier2: tierReport(recall, 2, archived),
      tier3: tierReport(recall, 3, archived),
    },
    precision: {
      checked: precision.checked,
      repaired: precision.repaired.length,
      dropped: precision.dropped.length,
    },
    repairedItems: bounded(precision.repaired).map((item) => ({
      ...item,
      before: short(item.before),
      after: short(item.after),
    })),
    droppedItems: bounded(precision.dropped).map((item) => ({
      ...item,
      text: short(item.text),
      unsupported: bounded(item.unsupported).map(short),
    })),
    verbatim: {
      added: repair.added.length,
      tokens: repair.tokens,
      constraintTokens: repair.constraintTokens,
      archived: repair.archived,
    },
    filled: { added: input.filled.added.length, tokens: input.filled.tokens },
    evicted: input.evicted,
    rejected: countReasons(input.rejected),
    leftOut: lost.slice(0, ledgerConstants.leftOutListLimit.value).map((fact) => ({
      text: short(fact.text),
      seq: fact.seqs[0] ?? 0,
      archived: archived.has(fact),
    })),
    leftOutCount: lost.length,
    constraintsOverBudget: input.constraintsOverBudget,
  };
}
