import { applyOperations } from '#shared/compaction/ledger/operations/apply-operations.ts';
import { inProfile } from '#shared/compaction/ledger/operations/change-profile.ts';
import { promptVersion } from '#shared/compaction/ledger/prompt/ledger-prompts.ts';
import {
  readFoldedTurns,
  type LedgerReading,
} from '#shared/compaction/ledger/prompt/ledger-reading.ts';
import type { Operation } from '#shared/compaction/ledger/prompt/operation.ts';
import { renderLedger, renderWorkingLayer } from '#shared/compaction/ledger/render-snapshot.ts';
import {
  verifyLedger,
  type LedgerVerification,
} from '#shared/compaction/ledger/verify/verify-ledger.ts';
import type { FoldPlan } from '#shared/compaction/split/plan.ts';
import { tokenCounting } from '#shared/compaction/split/context-tokens.ts';
import { estimateTextTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import {
  emptySnapshot,
  snapshotProfile,
  workingItems,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import { AppError } from '#shared/errors.ts';
import { passWorkerCrashPoint } from '#functions/lib/crash-points.ts';
import { keptTexts } from '#functions/worker/compaction/swap/measure-swap.ts';
import { geminiCliStrategy } from '../gemini-cli.ts';
import { summariserOfRun, type ClaimedRun } from '#functions/worker/compaction/run.ts';
import type { Checked, SnapshotStrategy } from '../snapshot-strategy.ts';
import { askForCorrection, askForOperations } from './ask-for-operations.ts';
import { citing } from '../citing.ts';
import { roomFor, type RunRoom } from './room-for.ts';
import { loadIndex } from '#functions/recall/read-index.ts';

/**
 * What tools said in the earlier turns that the folded ones brought back, a text for each turn: the model may have
 * repeated it. From the index of recall, where its words came from. No read where nothing was brought back. Throws
 * StoreUnavailableError.
 */
async function recalledTools(
  { dependencies, reading }: ClaimedRun,
  { folded }: Pick<FoldPlan, 'folded'>,
): Promise<string[]> {
  const seqs = new Set(folded.flatMap(({ recalled }) => recalled?.seqs ?? []));
  if (seqs.size === 0) return [];
  const { conversationId, conversation } = reading;
  const { segments } = await loadIndex(dependencies, {
    conversationId,
    conversation: conversation.value,
  });
  const passages = segments
    .flatMap((segment) => segment.passages)
    .filter(({ seq, role }) => role === 'tool' && seqs.has(seq));
  const bySeq = Map.groupBy(passages, ({ seq }) => seq);
  return [...bySeq.values()].map((each) => each.map(({ text }) => text).join('\n'));
}

/** What the answers of the summariser are checked against, the same for each of them. */
interface Standard {
  reading: LedgerReading;
  /** Pins and tail. */
  keptTexts: string[];
  /** What hooks of the app say. */
  noteTexts: readonly string[];
  room: RunRoom;
}

/** Applies operations to what the previous generation knew, and checks the result. */
function verify(
  run: ClaimedRun,
  standard: Standard,
  {
    operations,
    corrections = [],
  }: { operations: readonly Operation[]; corrections?: readonly Operation[] },
): LedgerVerification {
  const { conversation, history, policy } = run.reading;
  const profile = snapshotProfile(conversation.value.profile);
  const previous = history?.snapshot ? inProfile(history.snapshot, profile) : undefined;
  const { reading, keptTexts: kept, noteTexts, room } = standard;
  const { snapshot, rejected } = applyOperations(previous ?? emptySnapshot(profile), operations, {
    ...reading.evidence(),
    corrections,
  });
  return verifyLedger({
    previous,
    snapshot,
    rejected,
    reading,
    keptTexts: kept,
    noteTexts,
    budgetTokens: room.ceilingTokens,
    constraintTokens: room.constraintTokens,
    counting: tokenCounting(policy, conversation.value.model),
  });
}

/** The check of the first answer, or, where another call brought more and that is sound, of both together. */
async function mended(
  run: ClaimedRun,
  plan: FoldPlan,
  { operations, room }: { operations: readonly Operation[]; room: RunRoom },
): Promise<LedgerVerification> {
  const standard = {
    reading: readFoldedTurns(plan.folded, await recalledTools(run, plan)),
    keptTexts: keptTexts(run, plan),
    noteTexts: run.notes ?? [],
    room,
  };
  const first = verify(run, standard, { operations });
  if (first.correction === undefined) return first;
  const more = await askForCorrection(run, plan, first);
  await passWorkerCrashPoint(run.dependencies, 'repaired');
  if (more.length === 0) return first;
  const second = verify(run, standard, { operations, corrections: more });
  // A correction is asked for where the first check is sound.
  return second.ok ? second : first;
}

/**
 * What working layer and archive may take together: the room that the model was told, of which its texts leave so many
 * characters to the archive.
 */
function shownTokens(
  snapshot: Snapshot,
  { roomTokens, characters }: RunRoom,
  counting: TokenCounting,
): number {
  const used = workingItems(snapshot).reduce((sum, { text }) => sum + text.length, 0);
  const free = Math.max(0, 1 - used / characters);
  const workingTokens = estimateTextTokens(renderWorkingLayer(snapshot), counting);
  return Math.min(roomTokens, workingTokens + Math.floor(free * roomTokens));
}

function checkedFrom(
  run: ClaimedRun,
  { plan, room }: { plan: FoldPlan; room: RunRoom },
  { ok, problems, snapshot: verified, report }: LedgerVerification,
): Checked {
  const { conversation, policy } = run.reading;
  const counting = tokenCounting(policy, conversation.value.model);
  if (!ok)
    return problems.includes('EMPTY')
      ? { kind: 'empty' }
      : { kind: 'refused', reason: problems.join(',') };
  const snapshot = citing(run, plan, verified);
  return {
    kind: 'checked',
    strategy: 'ledger',
    snapshot,
    body: renderLedger(snapshot, { budgetTokens: shownTokens(snapshot, room, counting), counting }),
    report: { ...report },
    model: run.bill.model ?? summariserOfRun(run).model,
    promptVersion,
  };
}

/**
 * Recap's way: the model only says what to add, change or end; code applies it, checks it against the turns
 * and puts back what the user stated and the model forgot. What nobody names survives unchanged. A model that
 * refuses the schema is asked as Gemini CLI asks.
 */
export const ledgerStrategy: SnapshotStrategy = {
  name: 'ledger',

  async draft(run, plan) {
    try {
      const room = roomFor(run, plan);
      const asked = await askForOperations(run, plan, room);
      return {
        async check() {
          if (asked.kind !== 'operations') return asked;
          const { operations } = asked;
          return checkedFrom(run, { plan, room }, await mended(run, plan, { operations, room }));
        },
      };
    } catch (error) {
      const isRefused = error instanceof AppError && error.reason === 'MODEL_REFUSED_REQUEST';
      if (!isRefused || run.signal.aborted) throw error;
      // Not every model answers under a schema; every one writes text.
      const { conversationId } = run.reading;
      run.dependencies.logger.log('WARNING', 'summariser_without_schema', { conversationId });
      return geminiCliStrategy.draft(run, plan);
    }
  },
};
