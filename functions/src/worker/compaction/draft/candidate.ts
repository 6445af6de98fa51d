import type { PlannedMask } from '#shared/compaction/tool-output-budget.ts';
import type { ContextSource } from '#shared/conversation/context/assemble-context.ts';
import type { CoveredThrough, Pin } from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import type { Snapshot } from '#shared/conversation/documents/snapshot.ts';
import type { Outcome } from '#functions/worker/compaction/attempt-outcome.ts';

/** The next generation as it would be: everything decided, nothing written but its blobs. */
export interface Candidate {
  state: 'COMPACTED' | 'CONTENT_TRUNCATED';
  coveredThrough: CoveredThrough;
  /** First turn of the range; 0 when none was folded. */
  from: number;
  turnsFolded: number;
  isPartial?: boolean;
  boundary: string;
  strategy: History['strategy'];
  snapshotText: string;
  snapshot: Snapshot | null;
  /** Estimated tokens of snapshot and acknowledgement, before calibration. */
  snapshotTokens: number;
  masks: PlannedMask[];
  beforeTokens: number;
  afterTokens: number;
  /** Who counted both, and what `afterTokens` is about. */
  counted: NonNullable<History['counted']>;
  /** '' when no model was asked. */
  model: string;
  promptVersion: string;
  sourceHash: string;
  report: Record<string, unknown>;
  /** The context that it makes. */
  after: ContextSource;
  /** Folded messages that stay word for word: pins that the swap adds to those of the conversation document. */
  keptPins?: readonly Pin[];
}

/** What checking and measuring a draft leads to. */
export type Verified =
  { kind: 'candidate'; candidate: Candidate } | { kind: 'outcome'; outcome: Outcome };
