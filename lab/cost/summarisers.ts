import type { CompactionPolicy } from '#shared/compaction/policy.ts';
import type { Summariser } from './folds/call-cost.ts';

/** The room of a snapshot grows over the first three folds; it is taken as it stands from then on. */
export const GROWN_ROOM = 1.5;

/**
 * Recap's: one call, whose answer is as large as the snapshot that comes of it. The snapshot fills its room.
 * `instructionTokens`: system instruction and schema.
 */
export function ledgerSummariser(
  { snapshotBudgetTokens }: Pick<CompactionPolicy, 'snapshotBudgetTokens'>,
  instructionTokens: number,
): Summariser {
  const snapshotTokens = GROWN_ROOM * snapshotBudgetTokens;
  return { instructionTokens, outputTokens: snapshotTokens, snapshotTokens, isChecked: false };
}

/** What the recorded summaries of Gemini CLI's prompt were allowed; it sets no limit itself. */
export const CLI_SUMMARY_CHARACTERS = 6_000;

/**
 * Gemini CLI's: a summary of the oldest 70 % and a check that reads them again. Its instruction has about 3,800
 * characters. Sizes: eight recorded answers to its prompt had 5,864 to 5,998 characters, 1,510 tokens on average.
 */
export const cliSummariser: Summariser = {
  instructionTokens: 1_000,
  outputTokens: 1_510,
  snapshotTokens: 1_510,
  isChecked: true,
};
