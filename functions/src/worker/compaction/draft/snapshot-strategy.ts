import type { FoldPlan } from '#shared/compaction/plan.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import type { Snapshot } from '#shared/conversation/documents/snapshot.ts';
import type { ClaimedRun } from '../run.ts';

/** A snapshot that code has checked. */
export interface CheckedSnapshot {
  kind: 'checked';
  strategy: Exclude<History['strategy'], 'copy'>;
  snapshot: Snapshot;
  /** As it stands in the context between its boundary lines: one `<state_snapshot>`. */
  body: string;
  /** What the check found; every list is bounded. */
  report: Record<string, unknown>;
  /** The model that wrote it; '' where code did. */
  model: string;
  promptVersion: string;
}

/** What the check leads to; an answer that cannot be used is a result. */
export type Checked =
  | CheckedSnapshot
  /** Nothing was written. */
  | { kind: 'empty' }
  /** The answer was cut or blocked, cannot be read, or does not stand up to the check. */
  | { kind: 'refused'; reason: string };

/** What was written, not checked yet. */
export interface Draft {
  /** Checks it by code, without a call of a model. May read the store: throws StoreUnavailableError. */
  check(): Promise<Checked>;
}

/** A way to write the snapshot of what a plan folds. */
export interface SnapshotStrategy {
  readonly name: CheckedSnapshot['strategy'];
  /** Asks the model, where the strategy has one. Model errors are thrown as AppError. */
  draft(run: ClaimedRun, plan: FoldPlan): Promise<Draft>;
}
