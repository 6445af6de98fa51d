import type { SnapshotSections } from '../../../shared/compaction/snapshot-sections.ts';
import type { Content } from '../../../shared/conversation/content.ts';
import type { ModelGenerator } from '../../../shared/ports.ts';
import type { Bill } from './run.ts';

/** What a strategy makes a snapshot of. */
export interface SnapshotRequest {
  /** The model that writes it. */
  model: string;
  /** The folded turns, previous snapshot first. */
  contents: readonly Content[];
  hasPreviousSnapshot: boolean;
  focus?: string | undefined;
  /** Size of the snapshot that is asked for. */
  maximumTokens: number;
  /** Bound of one answer: thoughts, scratchpad and snapshot. */
  maxOutputTokens: number;
  /** Names the calls in logs. */
  promptId: string;
  /** Every call is entered here, failed ones too. */
  bill: Bill;
}

export type SnapshotResult =
  | { kind: 'snapshot'; sections: SnapshotSections; text: string }
  /** No pass wrote anything. */
  | { kind: 'empty' }
  /** What came was cut, refused or not readable. */
  | { kind: 'refused'; reason: string };

/**
 * A way to write snapshots. Model errors are thrown as AppError; an answer that cannot be used is a
 * result.
 */
export interface SnapshotStrategy {
  readonly name: 'rewrite';
  summarise(
    model: ModelGenerator,
    request: SnapshotRequest,
    signal: AbortSignal,
  ): Promise<SnapshotResult>;
  /**
   * One more call that must place these identifiers and must not state these facts, or undefined when
   * its answer cannot be used.
   */
  repair(
    model: ModelGenerator,
    request: SnapshotRequest & {
      snapshotText: string;
      missingIdentifiers: readonly string[];
      unsupportedFacts: readonly string[];
    },
    signal: AbortSignal,
  ): Promise<SnapshotSections | undefined>;
}
