import { cutHead } from '#shared/text/cut.ts';
import type { Fact, FactTier } from '../facts/index/fact.ts';
import { indexFacts, isHeld } from '../facts/index/fact-index.ts';
import type { KnownText } from '../facts/index/text-facts.ts';
import { ledgerConstants } from './ledger-constants.ts';
import type {
  DoubtfulItem,
  DroppedItem,
  Precision,
  RepairedItem,
} from './verify/precision-gate.ts';
import { shareHeld, type Recall } from './prompt/recalled-text.ts';
import type { VerbatimRepair } from './repair/repair-verbatim.ts';

/** How much of a tier the context still says. `share` is weighted, 0–1. */
type TierReport = {
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
  /** Items; of `cut` and `unconfirmed` the values. */
  precision: {
    checked: number;
    repaired: number;
    dropped: number;
    cut: number;
    unconfirmed: number;
  };
  /** Items that code gave other words. */
  repairedItems: RepairedItem[];
  /**
   * Items with values that no folded turn holds: cut where they would do harm, else kept. Absent in reports of before
   * 2026-11-23.
   */
  doubtfulItems?: DoubtfulItem[];
  droppedItems: DroppedItem[];
  /** Sentences of turns that code put back. */
  verbatim: { added: number; tokens: number; constraintTokens: number; archived: number };
  /** Items that were evicted to the archive. */
  evicted: number;
  /** Refused operations by reason. */
  rejected: Record<string, number>;
  /** Tier-1 facts that the context no longer says, the weightiest first. */
  leftOut: { text: string; seq: number; archived: boolean }[];
  leftOutCount: number;
  constraintsOverBudget: boolean;
};

interface ReportInput {
  precision: Precision;
  repair: Pick<VerbatimRepair, 'added' | 'tokens' | 'constraintTokens' | 'archived'>;
  recall: Recall;
  archiveTexts: readonly KnownText[];
  evicted: number;
  constraintsOverBudget: boolean;
  rejected: readonly { reason: string }[];
}

const short = (text: string): string => cutHead(text, ledgerConstants.reportTextCharacters.value);
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

const countPrecision = ({
  checked,
  repaired,
  dropped,
  doubtful,
}: Precision): LedgerReport['precision'] => ({
  checked,
  repaired: repaired.length,
  dropped: dropped.length,
  cut: doubtful.reduce((sum, { cut }) => sum + cut.length, 0),
  unconfirmed: doubtful.reduce((sum, { unconfirmed }) => sum + unconfirmed.length, 0),
});

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
    precision: countPrecision(precision),
    repairedItems: bounded(precision.repaired).map((item) => ({
      ...item,
      before: short(item.before),
      after: short(item.after),
    })),
    doubtfulItems: bounded(precision.doubtful).map((item) => ({
      ...item,
      text: short(item.text),
      cut: bounded(item.cut).map(short),
      unconfirmed: bounded(item.unconfirmed).map(short),
    })),
    droppedItems: bounded(precision.dropped).map((item) => ({ ...item, text: short(item.text) })),
    verbatim: {
      added: repair.added.length,
      tokens: repair.tokens,
      constraintTokens: repair.constraintTokens,
      archived: repair.archived,
    },
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
