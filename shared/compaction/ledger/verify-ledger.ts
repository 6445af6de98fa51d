import { workingItems, type Snapshot } from '../../conversation/snapshot.ts';
import type { Fact } from '../facts/fact.ts';
import type { TextFacts } from '../facts/text-facts.ts';
import { ledgerConstants } from '../ledger-constants.ts';
import { snapshotConstants } from '../snapshot-constants.ts';
import { estimateTextTokens, type TokenCounting } from '../token-estimate.ts';
import { fillRoom, type FilledSnapshot } from './fill-room.ts';
import { fitSnapshot } from './fit-snapshot.ts';
import { lastingFacts } from './lasting-facts.ts';
import type { LedgerReading } from './ledger-reading.ts';
import { ledgerReport, type LedgerReport } from './ledger-report.ts';
import { shapeProblems, withoutLoops, type ShapeProblem } from './ledger-shape.ts';
import { missingConstraints } from './missing-constraints.ts';
import { gatePrecision, type Precision } from './precision-gate.ts';
import { recallOf, type Recall } from './recall.ts';
import { renderWorkingLayer } from './render-snapshot.ts';
import { repairVerbatim, type VerbatimRepair } from './repair-verbatim.ts';
import { repairWorth } from './repair-worth.ts';
import { uniteLists } from './unite-lists.ts';
import { withRequests } from './with-requests.ts';

export type LedgerProblem = ShapeProblem | 'UNSUPPORTED_FACTS';

export interface LedgerInput {
  /** Before the operations of this run. */
  previous: Snapshot | undefined;
  /** After them. */
  snapshot: Snapshot;
  /** The turns that this run folds; made once by `readFoldedTurns`, whatever is checked against it. */
  reading: LedgerReading;
  /** What stays in the context beside the snapshot: pins and tail. */
  keptTexts: readonly string[];
  budgetTokens: number;
  counting: TokenCounting;
  /** Operations that were refused. */
  rejected: readonly { reason: string }[];
}

export interface LedgerVerification {
  ok: boolean;
  problems: LedgerProblem[];
  /** The snapshot to use: repaired, and within the budget but for constraints. As it came when its shape was refused. */
  snapshot: Snapshot;
  /** One more call, asked for `missing`, is worth it. */
  wantsRepair: boolean;
  /** Facts of tier 2 that would fit, the weightiest first. */
  missing: Fact[];
  report: LedgerReport;
}

/** The input with the texts that stay read once, however often they are asked. */
type ReadInput = Omit<LedgerInput, 'keptTexts'> & { keptTexts: readonly TextFacts[] };

const textsIn = (items: readonly { text: string }[], { read }: LedgerReading): TextFacts[] =>
  items.map(({ text }) => read(text));

function refused(input: LedgerInput, problems: ShapeProblem[]): LedgerVerification {
  const precision: Precision = {
    snapshot: input.snapshot,
    checked: 0,
    repaired: [],
    dropped: [],
    isRefused: false,
  };
  const report = ledgerReport({
    precision,
    repair: { added: [], tokens: 0, constraintTokens: 0, archived: 0 },
    filled: { added: [], tokens: 0 },
    recall: recallOf([], { snapshotTexts: [], keptTexts: [] }),
    archiveTexts: [],
    evicted: 0,
    constraintsOverBudget: false,
    rejected: input.rejected,
  });
  return { ok: false, problems, snapshot: input.snapshot, wantsRepair: false, missing: [], report };
}

/** Facts and standing wishes that the snapshot lost, put back by code. */
function repairRecall(input: ReadInput, snapshot: Snapshot): VerbatimRepair {
  const { reading, keptTexts, budgetTokens, counting } = input;
  const snapshotTexts = textsIn(workingItems(snapshot), reading);
  return repairVerbatim({
    snapshot,
    missing: recallOf(reading.facts(), { snapshotTexts, keptTexts }).missing,
    constraints: missingConstraints(
      { wishes: reading.wishes(), withdrawals: reading.withdrawals() },
      { previous: input.previous, snapshot, keptTexts },
    ),
    dayOf: (seq) => reading.cited.get(seq)?.day,
    budgetTokens,
    counting,
    factsIn: reading.factsIn,
  });
}

/**
 * What code may still add to a snapshot that fits: sentences that say what is missing, as long as all that
 * code adds stays within a quarter of the budget, and the snapshot well below what it takes the place of.
 */
function fill(
  { reading, budgetTokens, counting }: ReadInput,
  repair: VerbatimRepair,
  fitted: { snapshot: Snapshot; missing: readonly Fact[] },
): FilledSnapshot {
  const quarter = Math.floor(snapshotConstants.appendedFactsFraction.value * budgetTokens);
  const foldedTokens = reading.utterances.reduce(
    (sum, { text }) => sum + estimateTextTokens(text, counting),
    0,
  );
  return fillRoom({
    ...fitted,
    dayOf: (seq) => reading.cited.get(seq)?.day,
    budgetTokens: Math.min(
      budgetTokens,
      Math.floor(ledgerConstants.filledFraction.value * foldedTokens),
    ),
    roomTokens: quarter - repair.tokens,
    counting,
    factsIn: reading.factsIn,
  });
}

/**
 * Checks and repairs, by code alone, what the operations of a model made of a snapshot. In this order:
 * its shape; that the cited turns hold what changed items say (repaired or dropped); that the user's
 * tier-1 facts and standing wishes are in the snapshot or in what stays (put back word for word); lists
 * in use are united; what exceeds the budget goes to the archive; what is left of the budget and of the
 * quarter that code may add takes sentences with further facts. Where neither the model nor an earlier run
 * has anything to say, the user's requests stand first: small talk is no failure. Whether another call is worth it is asked
 * before that: a model says it in fewer words. EMPTY becomes FAILED_EMPTY_SUMMARY, any other problem
 * FAILED_VERIFICATION. Linear in the text of the turns.
 */
export function verifyLedger(given: LedgerInput): LedgerVerification {
  const sound = withoutLoops(given.previous, given.snapshot);
  const isBare = workingItems(sound).length === 0;
  const snapshot = isBare ? withRequests(sound, given.reading) : sound;
  const shape = shapeProblems({ ...given, snapshot });
  if (shape.length > 0) return refused({ ...given, snapshot }, shape);
  const input: ReadInput = {
    ...given,
    snapshot,
    keptTexts: given.keptTexts.map(given.reading.read),
  };
  const { budgetTokens, counting, keptTexts, reading } = input;
  const precision = gatePrecision({ ...input, turns: reading.cited });
  const problems: LedgerProblem[] = precision.isRefused ? ['UNSUPPORTED_FACTS'] : [];
  const repair = repairRecall(input, precision.snapshot);
  const fitted = fitSnapshot(uniteLists(repair.snapshot, reading.facts()), {
    budgetTokens,
    counting,
    newestSeq: reading.turns.at(-1)?.seq ?? 0,
    wanted: { facts: lastingFacts(input.previous, reading.facts()), keptTexts },
  });
  const recallWith = (repaired: Snapshot): Recall =>
    recallOf(reading.facts(), {
      snapshotTexts: textsIn(workingItems(repaired), reading),
      keptTexts,
    });
  const recall = recallWith(fitted.snapshot);
  const usedTokens = estimateTextTokens(renderWorkingLayer(fitted.snapshot), counting);
  const worth = repairWorth(recall, { roomTokens: budgetTokens - usedTokens, counting });
  const { missing } = recall;
  const filled = fill(input, repair, { snapshot: fitted.snapshot, missing });
  const ok = problems.length === 0;
  return {
    ok,
    problems,
    snapshot: filled.snapshot,
    wantsRepair: ok && worth.wantsRepair,
    missing: worth.missing,
    report: ledgerReport({
      precision,
      repair,
      filled,
      recall: filled.added.length === 0 ? recall : recallWith(filled.snapshot),
      archiveTexts: textsIn(filled.snapshot.archive, reading),
      evicted: fitted.archived,
      constraintsOverBudget: fitted.constraintsOverBudget || repair.lacksConstraints,
      rejected: input.rejected,
    }),
  };
}
