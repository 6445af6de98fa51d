import { workingItems, type Snapshot } from '#shared/conversation/documents/snapshot.ts';
import type { Fact } from '#shared/compaction/facts/index/fact.ts';
import type { TextFacts } from '#shared/compaction/facts/index/text-facts.ts';
import type { TokenCounting } from '#shared/tokens/token-estimate.ts';
import { fitSnapshot } from '../budget/fit-snapshot.ts';
import { lastingFacts } from '../operations/lasting-facts.ts';
import type { LedgerReading } from '../prompt/ledger-reading.ts';
import { ledgerReport, type LedgerReport } from '../ledger-report.ts';
import { shapeProblems, withoutLoops, type ShapeProblem } from '../prompt/ledger-shape.ts';
import { toRecalledText, type Recall } from '../prompt/recalled-text.ts';
import { allowanceFor, type Allowance } from '../repair/allowance.ts';
import { missingConstraints } from '../repair/missing-constraints.ts';
import { isSaidByUser } from '../repair/needed-facts.ts';
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
    dayOf: reading.cited.dayOf,
    budgetTokens,
    roomTokens,
    constraintTokens: input.constraintTokens,
    further,
    counting,
    factsIn: reading.factsIn,
  });
}

/** Where neither the model nor an earlier run has anything to say, the user's requests stand. */
const withRequestsIfBare = (snapshot: Snapshot, reading: LedgerInput['reading']): Snapshot =>
  workingItems(snapshot).length === 0 ? withRequests(snapshot, reading) : snapshot;

/** What of the snapshot folded turns hold, or what stays says. */
function gate(input: ReadInput, noteTexts: readonly string[]): Precision {
  const { reading, keptTexts } = input;
  const knownTexts = [...keptTexts, ...noteTexts.map(reading.read)];
  const gated = gatePrecision({ ...input, turns: reading.cited, knownTexts });
  return { ...gated, snapshot: withRequestsIfBare(gated.snapshot, reading) };
}

/**
 * Checks and repairs, by code alone, what the operations of a model made of a snapshot. In this order: its shape; that
 * folded turns hold the values of changed items (`gatePrecision`); that what the user stated and a later answer needs
 * is in the snapshot or in what stays; lists in use are united; what exceeds the budget goes to the archive. Where
 * neither the model nor an earlier run has anything to say, the user's requests stand first: small talk is no failure.
 * EMPTY becomes FAILED_EMPTY_SUMMARY, any other problem FAILED_VERIFICATION. Linear in the text of the turns.
 */
export function verifyLedger(given: LedgerInput): LedgerVerification {
  const snapshot = withRequestsIfBare(withoutLoops(given.previous, given.snapshot), given.reading);
  const shape = shapeProblems({ ...given, snapshot });
  if (shape.length > 0) return refused({ ...given, snapshot }, shape);
  const keptTexts = given.keptTexts.map(given.reading.read);
  const input: ReadInput = { ...given, snapshot, keptTexts };
  const { budgetTokens, counting, reading } = input;
  const precision = gate(input, given.noteTexts ?? []);
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
