import {
  measureWideShare,
  roomCharacters,
  snapshotRoom,
  type RoomBounds,
} from '#shared/compaction/ledger/budget/snapshot-room.ts';
import { ledgerConstants } from '#shared/compaction/ledger/ledger-constants.ts';
import type { FoldPlan } from '#shared/compaction/split/plan.ts';
import type { ClaimedRun } from '#functions/worker/compaction/run.ts';

/** The room of a snapshot, also in characters, as models are told it. */
export interface RunRoom extends RoomBounds {
  characters: number;
  /** What rules may take, also where a fold is small. */
  constraintTokens: number;
}

/** The room of the snapshot that a run makes, by what it folds and what snapshots stand for afterwards. */
export function roomFor({ reading }: ClaimedRun, { folded, coveredThrough }: FoldPlan): RunRoom {
  const { policy, history, conversation } = reading;
  const wideShare = measureWideShare(folded);
  const room = snapshotRoom({
    budgetTokens: policy.snapshotBudgetTokens,
    softThresholdTokens: policy.softThresholdTokens,
    foldedTokens: folded.reduce((sum, { tokens }) => sum + tokens.user + tokens.answer, 0),
    foldedTurns: folded.length,
    coveredTurns: coveredThrough.seq,
    previousTokens: history?.snapshotTokens ?? 0,
    calibration: conversation.value.context.calibration,
    wideShare,
  });
  const share = ledgerConstants.constraintBudgetFraction.value;
  return {
    ...room,
    characters: roomCharacters(room.roomTokens, wideShare),
    constraintTokens: share * Math.max(room.ceilingTokens, policy.snapshotBudgetTokens),
  };
}
