import { applyOperations } from '../../../../shared/compaction/ledger/apply-operations.ts';
import { inProfile } from '../../../../shared/compaction/ledger/change-profile.ts';
import { promptVersion } from '../../../../shared/compaction/ledger/ledger-prompts.ts';
import {
  readFoldedTurns,
  type LedgerReading,
} from '../../../../shared/compaction/ledger/ledger-reading.ts';
import type { Operation } from '../../../../shared/compaction/ledger/operation.ts';
import { renderLedger } from '../../../../shared/compaction/ledger/render-snapshot.ts';
import {
  verifyLedger,
  type LedgerVerification,
} from '../../../../shared/compaction/ledger/verify-ledger.ts';
import { countingOf, type FoldPlan } from '../../../../shared/compaction/plan.ts';
import { emptySnapshot, snapshotProfileOf } from '../../../../shared/conversation/snapshot.ts';
import { AppError } from '../../../../shared/errors.ts';
import { passCrashPoint } from '../crash-points.ts';
import { keptTexts } from '../kept-texts.ts';
import { rewriteStrategy } from '../rewrite/rewrite-strategy.ts';
import { summariserOfRun, type ClaimedRun } from '../run.ts';
import type { Checked, SnapshotStrategy } from '../snapshot-strategy.ts';
import { askForMissing, askForOperations } from './ask-for-operations.ts';

/** What the answers of the summariser are checked against, the same for each of them. */
interface Standard {
  reading: LedgerReading;
  /** Pins and tail. */
  keptTexts: string[];
}

const standardOf = (run: ClaimedRun, plan: FoldPlan): Standard => ({
  reading: readFoldedTurns(plan.folded),
  keptTexts: keptTexts(run, plan),
});

/** Applies operations to what the previous generation knew, and checks the result. */
function verify(
  run: ClaimedRun,
  standard: Standard,
  operations: readonly Operation[],
): LedgerVerification {
  const { head, history, policy } = run.reading;
  const profile = snapshotProfileOf(head.value.profile);
  const previous = history?.snapshot ? inProfile(history.snapshot, profile) : undefined;
  const { snapshot, rejected } = applyOperations(
    previous ?? emptySnapshot(profile),
    operations,
    standard.reading.evidence(),
  );
  return verifyLedger({
    previous,
    snapshot,
    rejected,
    ...standard,
    budgetTokens: policy.snapshotBudgetTokens,
    counting: countingOf(policy, head.value.model),
  });
}

/** The check of the first answer, or, where another call brought more and that is sound, of both together. */
async function mended(
  run: ClaimedRun,
  plan: FoldPlan,
  operations: readonly Operation[],
): Promise<LedgerVerification> {
  const standard = standardOf(run, plan);
  const first = verify(run, standard, operations);
  if (!first.wantsRepair) return first;
  const more = await askForMissing(run, plan, first.missing);
  await passCrashPoint(run.dependencies, 'repaired');
  if (more.length === 0) return first;
  const second = verify(run, standard, [...operations, ...more]);
  // A repair is asked for where the first check is sound.
  return second.ok ? second : first;
}

function checkedOf(
  run: ClaimedRun,
  { ok, problems, snapshot, report }: LedgerVerification,
): Checked {
  const { head, policy } = run.reading;
  if (!ok)
    return problems.includes('EMPTY')
      ? { kind: 'empty' }
      : { kind: 'refused', reason: problems.join(',') };
  return {
    kind: 'checked',
    strategy: 'ledger',
    snapshot,
    body: renderLedger(snapshot, {
      budgetTokens: policy.snapshotBudgetTokens,
      counting: countingOf(policy, head.value.model),
    }),
    report: { ...report },
    model: run.bill.model ?? summariserOfRun(run).model,
    promptVersion,
  };
}

/**
 * Recap's way: the model only says what to add, change or end; code applies it, checks it against the turns
 * and puts back what the user stated and the model forgot. What nobody names survives unchanged. A model that
 * refuses the schema rewrites instead.
 */
export const ledgerStrategy: SnapshotStrategy = {
  name: 'ledger',

  async draft(run, plan) {
    try {
      const asked = await askForOperations(run, plan);
      return {
        async check() {
          if (asked.kind !== 'operations') return asked;
          return checkedOf(run, await mended(run, plan, asked.operations));
        },
      };
    } catch (error) {
      const isRefused = error instanceof AppError && error.reason === 'MODEL_REFUSED_REQUEST';
      if (!isRefused || run.signal.aborted) throw error;
      // Not every model answers under a schema; every one writes text.
      const { conversationId } = run.reading;
      run.dependencies.logger.log('WARNING', 'summariser_without_schema', { conversationId });
      return rewriteStrategy.draft(run, plan);
    }
  },
};
