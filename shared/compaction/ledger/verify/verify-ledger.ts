import {
  constraintSection,
  workingItems,
  type ArchivedItem,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import type { Fact } from '#shared/compaction/facts/index/fact.ts';
import { indexFacts } from '#shared/compaction/facts/index/fact-index.ts';
import { isSentenceHeld } from '#shared/compaction/facts/index/line-index.ts';
import type { TextFacts } from '#shared/compaction/facts/index/text-facts.ts';
import { repairConstants } from '../repair/repair-constants.ts';
import { estimateTextTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import { changedItems } from '../operations/changed-items.ts';
import { fitSnapshot } from '../budget/fit-snapshot.ts';
import { lastingFacts } from '../operations/lasting-facts.ts';
import type { LedgerReading } from '../prompt/ledger-reading.ts';
import { ledgerReport, type LedgerReport } from '../ledger-report.ts';
import { shapeProblems, withoutLoops, type ShapeProblem } from '../prompt/ledger-shape.ts';
import { toRecalledText, type Recall } from '../prompt/recalled-text.ts';
import { renderWorkingLayer } from '../render-snapshot.ts';
import { copiedShare } from '../repair/copied-share.ts';
import { missingConstraints } from '../repair/missing-constraints.ts';
import { bindsAnswers, isNeededLater, isSaidByUser } from '../repair/needed-facts.ts';
import { repairVerbatim, type VerbatimRepair } from '../repair/repair-verbatim.ts';
import { uniteLists } from '../budget/unite-lists.ts';
import { correctionFor, type Correction } from './correction.ts';
import { gatePrecision, type Precision } from './precision-gate.ts';
import { withRequests } from '../operations/with-requests.ts';

type LedgerProblem = ShapeProblem | 'UNSUPPORTED_FACTS';

export interface LedgerInput {
  /** Before the operations of this run. */
  previous: Snapshot | undefined;
  /** After them. */
  snapshot: Snapshot;
  /** The turns that this run folds; made once by `readFoldedTurns`, whatever is checked against it. */
  reading: LedgerReading;
  /** What stays in the context beside the snapshot: pins and tail. */
  keptTexts: readonly string[];
  /** What hooks of the app said to the summariser: it bears out values, and is not kept. */
  noteTexts?: readonly string[] | undefined;
  /** What the working layer may take. */
  budgetTokens: number;
  /** What rules may take of it; default: their share of the budget. */
  constraintTokens?: number | undefined;
  counting: TokenCounting;
  /** Operations that were refused. */
  rejected: readonly { reason: string }[];
}

export interface LedgerVerification {
  ok: boolean;
  problems: LedgerProblem[];
  /** The snapshot to use: repaired, and within the budget. As it came when its shape was refused. */
  snapshot: Snapshot;
  /** What one more call is worth asking for. */
  correction: Correction | undefined;
  report: LedgerReport;
}

/** The input with the texts that stay read once, however often they are asked. */
type ReadInput = Omit<LedgerInput, 'keptTexts' | 'noteTexts'> & {
  keptTexts: readonly TextFacts[];
};

const textsIn = (items: readonly { text: string }[], { read }: LedgerReading): TextFacts[] =>
  items.map(({ text }) => read(text));

function refused(input: LedgerInput, problems: ShapeProblem[]): LedgerVerification {
  const precision: Precision = {
    snapshot: input.snapshot,
    checked: 0,
    repaired: [],
    doubtful: [],
    dropped: [],
    isRefused: false,
  };
  const report = ledgerReport({
    precision,
    repair: { added: [], tokens: 0, constraintTokens: 0, archived: 0 },
    recall: toRecalledText([], { snapshotTexts: [], keptTexts: [] }),
    archiveTexts: [],
    evicted: 0,
    constraintsOverBudget: false,
    rejected: input.rejected,
  });
  return { ok: false, problems, snapshot: input.snapshot, correction: undefined, report };
}

/** Rules aside: those must be in the words of the user. */
const madeByModel = ({ previous, snapshot }: ReadInput): ArchivedItem[] =>
  changedItems(previous, snapshot)
    .map(({ item }) => item)
    .filter(({ by, section }) => by === 'model' && section !== constraintSection);

const isNeeded = (fact: Fact, { cited }: LedgerReading): boolean =>
  isNeededLater(fact, cited.get(fact.seqs[0] ?? 0)?.day);

/** What code may put back of what the user stated. */
interface Allowance {
  isWanted: (fact: Fact) => boolean;
  /** Whether a second call is worth asking for it. */
  isAskedFor: (fact: Fact) => boolean;
  roomTokens: number;
  /** Whether a wish of the user stands in the snapshot, in whatever words. */
  isHeld: (wish: string) => boolean;
}

/**
 * A summariser that writes its own statements has chosen what matters: code adds what a later answer needs, within a
 * twentieth of the snapshot, or two sentences. One that mostly copies sentences, or says next to nothing, has left out what matters: all that
 * the user said comes back, within a quarter of the budget.
 */
function allowanceFor(input: ReadInput, snapshot: Snapshot): Allowance {
  const { reading, budgetTokens, counting } = input;
  const { copiedStatementShare, copiedRepairFraction, addedFraction, addedTokens, sparseFraction } =
    repairConstants;
  const made = madeByModel(input);
  const usedTokens = estimateTextTokens(renderWorkingLayer(snapshot), counting);
  const isSparse = usedTokens < sparseFraction.value * budgetTokens;
  const isCopied =
    made.length === 0 || copiedShare(made, reading.cited) >= copiedStatementShare.value;
  if (isSparse || isCopied)
    return {
      isWanted: isSaidByUser,
      isAskedFor: (fact) => isCopied || isNeeded(fact, reading),
      roomTokens: Math.floor(copiedRepairFraction.value * budgetTokens),
      isHeld: () => false,
    };
  const said = workingItems(snapshot).flatMap(({ text, quote }) => [text, quote ?? '']);
  const lines = indexFacts(said).lines();
  const isHeld = (wish: string): boolean =>
    !bindsAnswers(wish) || isSentenceHeld(wish, lines, repairConstants.heldWishShare.value);
  const shareTokens = addedFraction.value * Math.min(usedTokens, budgetTokens);
  const roomTokens = Math.max(addedTokens.value, Math.floor(shareTokens));
  return {
    isWanted: (fact) =>
      isNeeded(fact, reading) && !(fact.kind === 'instruction' && isHeld(fact.sentence)),
    isAskedFor: () => true,
    roomTokens,
    isHeld,
  };
}

/** Facts that neither snapshot nor kept texts say: those that come back, and those that the archive gets. */
interface Lacking {
  missing: readonly Fact[];
  further: readonly Fact[];
}

/** What the snapshot lost of what the user stated, put back by code. */
function repairRecall(
  input: ReadInput,
  snapshot: Snapshot,
  { missing, further, allowance }: Lacking & { allowance: Allowance },
): VerbatimRepair {
  const { reading, keptTexts, budgetTokens, counting } = input;
  const { roomTokens, isHeld } = allowance;
  const wishes = reading.wishes().filter(({ text }) => !isHeld(text));
  return repairVerbatim({
    snapshot,
    missing,
    constraints: missingConstraints(
      { wishes, withdrawals: reading.withdrawals() },
      { previous: input.previous, snapshot, keptTexts },
    ),
    dayOf: (seq) => reading.cited.get(seq)?.day,
    budgetTokens,
    roomTokens,
    constraintTokens: input.constraintTokens,
    further,
    counting,
    factsIn: reading.factsIn,
  });
}

/**
 * Checks and repairs, by code alone, what the operations of a model made of a snapshot. In this order: its shape; that
 * folded turns hold the values of changed items (`gatePrecision`); that what the user stated and a later answer needs
 * is in the snapshot or in what stays; lists in use are united; what exceeds the budget goes to the archive. Where
 * neither the model nor an earlier run has anything to say, the user's requests stand first: small talk is no failure.
 * EMPTY becomes FAILED_EMPTY_SUMMARY, any other problem FAILED_VERIFICATION. Linear in the text of the turns.
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
  const notes = (given.noteTexts ?? []).map(reading.read);
  const gated = gatePrecision({
    ...input,
    turns: reading.cited,
    knownTexts: [...keptTexts, ...notes],
  });
  const isEmptied = workingItems(gated.snapshot).length === 0;
  const precision = isEmptied
    ? { ...gated, snapshot: withRequests(gated.snapshot, reading) }
    : gated;
  const recallWith = (repaired: Snapshot): Recall =>
    toRecalledText(reading.facts(), {
      snapshotTexts: textsIn(workingItems(repaired), reading),
      keptTexts,
    });
  const stated = recallWith(precision.snapshot);
  const allowance = allowanceFor(input, precision.snapshot);
  const missing = stated.missing.filter(allowance.isWanted);
  const further = stated.missing.filter((fact) => isSaidByUser(fact) && !missing.includes(fact));
  const repair = repairRecall(input, precision.snapshot, { missing, further, allowance });
  const fitted = fitSnapshot(
    uniteLists(repair.snapshot, reading.facts(), { budgetTokens, counting }),
    {
      budgetTokens,
      constraintTokens: input.constraintTokens,
      counting,
      newestSeq: reading.turns.at(-1)?.seq ?? 0,
      wanted: { facts: lastingFacts(input.previous, reading.facts()), keptTexts },
    },
  );
  const ok = !precision.isRefused;
  return {
    ok,
    problems: ok ? [] : ['UNSUPPORTED_FACTS'],
    snapshot: fitted.snapshot,
    correction: ok
      ? correctionFor(precision.doubtful, missing.filter(allowance.isAskedFor))
      : undefined,
    report: ledgerReport({
      precision,
      repair,
      recall: recallWith(fitted.snapshot),
      archiveTexts: textsIn(fitted.snapshot.archive, reading),
      evicted: fitted.archived,
      constraintsOverBudget: fitted.constraintsOverBudget || repair.lacksConstraints,
      rejected: input.rejected,
    }),
  };
}
