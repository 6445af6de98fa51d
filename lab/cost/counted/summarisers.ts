import { snapshotRoom } from '#shared/compaction/ledger/budget/snapshot-room.ts';
import type { CompactionPolicy } from '#shared/compaction/policy/policy.ts';
import type { Summariser } from '../folds/call-cost.ts';
import type { CountedCompaction } from './counted-file.ts';

type Budget = Pick<CompactionPolicy, 'snapshotBudgetTokens' | 'softThresholdTokens'>;

const mean = <Item>(items: readonly Item[], figure: (item: Item) => number): number =>
  items.reduce((sum, item) => sum + figure(item), 0) / items.length;

/** The room of a snapshot that stands for so many tokens of talk, by the product's own rule. */
const roomTokens = (
  { snapshotBudgetTokens, softThresholdTokens }: Budget,
  coveredTokens: number,
): number =>
  snapshotRoom({
    budgetTokens: snapshotBudgetTokens,
    softThresholdTokens,
    foldedTokens: coveredTokens,
    foldedTurns: 1,
    coveredTurns: 1,
    previousTokens: 0,
    calibration: 1,
    wideShare: 0,
  }).roomTokens;

/** What counted compactions say of others under a policy. Throws RangeError without any. */
export function meanSummariser(counted: readonly CountedCompaction[], budget: Budget): Summariser {
  if (counted.length === 0) throw new RangeError('no compaction was counted');
  const fill = mean(counted, (each) => each.snapshotTokens / each.roomTokens);
  const written = mean(counted, (each) => each.outputTokens / each.roomTokens);
  const read = mean(counted, (each) => each.promptTokens - each.instructionTokens);
  return {
    calls: mean(counted, ({ calls }) => calls),
    instructionTokens: mean(counted, (each) => each.instructionTokens),
    readFactor: read / mean(counted, (each) => each.foldedTokens + each.knownTokens),
    outputTokens: written * budget.snapshotBudgetTokens,
    snapshotTokens: (coveredTokens) => fill * roomTokens(budget, coveredTokens),
    isChecked: false,
  };
}

/** That the summaries of Gemini CLI's prompt were allowed which were recorded; it sets no limit itself. */
export const CLI_SUMMARY_CHARACTERS = 6_000;

/**
 * Gemini CLI's: a summary of the oldest 70 % and a check that reads them again. Its instruction has about 3,800
 * characters. Sizes: eight recorded answers to its prompt had 5,864 to 5,998 characters, 1,510 tokens on average.
 */
export const cliSummariser: Summariser = {
  calls: 1,
  instructionTokens: 1_000,
  readFactor: 1,
  outputTokens: 1_510,
  snapshotTokens: () => 1_510,
  isChecked: true,
};
