import type { Utterance } from '../../../../shared/compaction/facts/utterance.ts';
import { utterancesOf } from '../../../../shared/compaction/facts/utterances.ts';
import {
  applyOperations,
  type LedgerEvidence,
} from '../../../../shared/compaction/ledger/apply-operations.ts';
import { inProfile } from '../../../../shared/compaction/ledger/change-profile.ts';
import { promptVersion } from '../../../../shared/compaction/ledger/ledger-prompts.ts';
import type { Operation } from '../../../../shared/compaction/ledger/operation.ts';
import { dayKeyOf as dayOf } from '../../../../shared/compaction/facts/calendar-day.ts';
import { renderLedger } from '../../../../shared/compaction/ledger/render-snapshot.ts';
import {
  verifyLedger,
  type LedgerVerification,
} from '../../../../shared/compaction/ledger/verify-ledger.ts';
import { countingOf, type FoldPlan } from '../../../../shared/compaction/plan.ts';
import { contentText } from '../../../../shared/conversation/content.ts';
import { emptySnapshot, snapshotProfileOf } from '../../../../shared/conversation/snapshot.ts';
import type { Turn } from '../../../../shared/conversation/turn.ts';
import { AppError } from '../../../../shared/errors.ts';
import { passCrashPoint } from '../crash-points.ts';
import { pinsAfterFold } from '../pins-after-fold.ts';
import { rewriteStrategy } from '../rewrite/rewrite-strategy.ts';
import { summariserOfRun, type ClaimedRun } from '../run.ts';
import type { Checked, SnapshotStrategy } from '../snapshot-strategy.ts';
import { askForMissing, askForOperations } from './ask-for-operations.ts';

/** What operations may cite: the folded turns, and the day of each. */
function evidenceIn(turns: readonly Turn[]): LedgerEvidence {
  const said = Map.groupBy(utterancesOf(turns), ({ seq }) => seq);
  const days = new Map(turns.map(({ seq, createTime }) => [seq, dayOf(createTime)]));
  const textsOf = (utterances: readonly Utterance[]) => ({
    user: utterances.flatMap(({ speaker, text }) => (speaker === 'user' ? [text] : [])).join('\n'),
    talk: utterances
      .flatMap(({ speaker, text }) => (speaker === 'user' || speaker === 'model' ? [text] : []))
      .join('\n'),
    all: utterances.map(({ text }) => text).join('\n'),
  });
  return {
    turns: new Map([...said].map(([seq, utterances]) => [seq, textsOf(utterances)])),
    at: (seq) => days.get(seq),
  };
}

/** Applies operations to what the previous generation knew, and checks the result. */
function verify(
  run: ClaimedRun,
  plan: FoldPlan,
  operations: readonly Operation[],
): LedgerVerification {
  const { head, history, policy } = run.reading;
  const profile = snapshotProfileOf(head.value.profile);
  const previous = history?.snapshot ? inProfile(history.snapshot, profile) : undefined;
  const applied = applyOperations(
    previous ?? emptySnapshot(profile),
    operations,
    evidenceIn(plan.folded),
  );
  const kept = plan.tail.filter(({ inContext }) => inContext);
  return verifyLedger({
    previous,
    snapshot: applied.snapshot,
    rejected: applied.rejected,
    turns: plan.folded,
    keptTexts: [
      ...pinsAfterFold(run, plan).pins.map(({ text }) => text),
      ...kept.flatMap(({ user, contents }) => [user, ...contents].map(contentText)),
    ],
    budgetTokens: policy.snapshotBudgetTokens,
    counting: countingOf(policy, head.value.model),
  });
}

/** The better of two checks of the same turns: one that is good, else the one that holds more. */
async function mended(
  run: ClaimedRun,
  plan: FoldPlan,
  operations: readonly Operation[],
): Promise<LedgerVerification> {
  const first = verify(run, plan, operations);
  if (!first.wantsRepair) return first;
  const more = await askForMissing(run, plan, first.missing);
  await passCrashPoint(run.dependencies, 'repaired');
  if (more.length === 0) return first;
  const second = verify(run, plan, [...operations, ...more]);
  return second.ok || !first.ok ? second : first;
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
