import type { FoldPlan } from '#shared/compaction/split/plan.ts';
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
  /** What was found and mended; every list is bounded. */
  report: Record<string, unknown>;
  /** The model that wrote it. */
  model: string;
  promptVersion: string;
}

/** What checking leads to; a snapshot that is not good enough is a result. */
export type Checked =
  | CheckedSnapshot
  /** Nothing was written. */
  | { kind: 'empty' }
  /** What came was cut, refused, not readable or not true. */
  | { kind: 'refused'; reason: string };

/** What a model has written, not believed yet. */
export interface Draft {
  /** Checks it by code and mends it, with at most one more call. Throws what the model throws. */
  check(): Promise<Checked>;
}

/** A way to write the snapshot of what a plan folds. */
export interface SnapshotStrategy {
  readonly name: CheckedSnapshot['strategy'];
  /** Asks the model. Model errors are thrown as AppError. */
  draft(run: ClaimedRun, plan: FoldPlan): Promise<Draft>;
}
