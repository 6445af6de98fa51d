import type { Trigger } from '#shared/conversation/documents/conversation.ts';
import { z } from 'zod';

/**
 * Where a compaction stands or how it ended. Gemini CLI calls COMPACTED `COMPRESSED` and FAILED_x
 * `COMPRESSION_FAILED_x`; it has no name for the states of the queue, FAILED_VERIFICATION, FAILED_ERROR,
 * ABORTED and SUPERSEDED.
 */
export const outcomeStateSchema = z.enum([
  'QUEUED',
  'RUNNING',
  'VERIFYING',
  'COMPACTED',
  'NOOP',
  'CONTENT_TRUNCATED',
  'FAILED_INFLATED_TOKEN_COUNT',
  'FAILED_TOKEN_COUNT_ERROR',
  'FAILED_EMPTY_SUMMARY',
  'FAILED_VERIFICATION',
  'FAILED_ERROR',
  'ABORTED',
  'SUPERSEDED',
]);
export type OutcomeState = z.infer<typeof outcomeStateSchema>;

export const hasFailed = (state: string): boolean => state.startsWith('FAILED_');

/** How one compaction ended, or where it stands. Tokens of the whole prompt, by one counter. */
export interface CompactionOutcome {
  state: OutcomeState;
  trigger: Trigger;
  beforeTokens: number;
  afterTokens: number;
  /** UPPER_SNAKE, e.g. `BELOW_THRESHOLD`. */
  reason?: string | undefined;
}

/** The limits in dollars that a compaction counts into: no model may be asked for it until the day turns. */
export type UnpaidReason = 'USER_DAILY_USD' | 'GLOBAL_BUDGET';

export const isUnpaid = (reason: string | undefined): reason is UnpaidReason =>
  reason === 'USER_DAILY_USD' || reason === 'GLOBAL_BUDGET';
