import { findTailStart, sumSteps, type Conversation } from './conversation.ts';
import type { Fold } from './bill.ts';

/** How Recap decides, from `shared/compaction/policy.ts`. */
interface ThresholdPolicy {
  /** Tokens without overhead; after a turn that reaches it. */
  thresholdTokens: number;
  tailTokens: number;
  snapshotTokens: number;
  /** New tokens since the last swap, as a share of the threshold, before the next. */
  rearmFraction: number;
}

/** Where Recap compacts a conversation. */
export function foldAtThreshold(
  { steps }: Pick<Conversation, 'steps'>,
  policy: ThresholdPolicy,
): Fold[] {
  const { thresholdTokens, tailTokens, snapshotTokens, rearmFraction } = policy;
  const sums = sumSteps(steps);
  const folds: Fold[] = [];
  let start = 0;
  let swappedTokens = -Infinity;
  for (const [index, { isTurnEnd }] of steps.entries()) {
    const end = index + 1;
    const known = folds.length > 0 ? snapshotTokens : 0;
    const contextTokens = known + (sums[end] ?? 0) - (sums[start] ?? 0);
    const isArmed = contextTokens - swappedTokens >= rearmFraction * thresholdTokens;
    if (!isTurnEnd || contextTokens < thresholdTokens || !isArmed) continue;
    const next = findTailStart(sums, end, tailTokens);
    if (next <= start) continue;
    start = next;
    swappedTokens = snapshotTokens + (sums[end] ?? 0) - (sums[start] ?? 0);
    folds.push({ end, start });
  }
  return folds;
}

/** How Gemini CLI decides. */
interface CliPolicy {
  /** Of the window, for the whole prompt. */
  thresholdFraction: number;
  /** Newest share of the history that stays. */
  keptFraction: number;
  windowTokens: number;
  /** Of its summary and the fixed answer to it. */
  snapshotTokens: number;
}

/**
 * Where Gemini CLI compacts a conversation: a turn that begins behind the first 70 % is the first that stays, and nothing
 * stays where none does. That a summary is thrown away which makes the history no shorter is left out: it is none of the
 * size that is taken.
 */
export function foldLikeGeminiCli(
  { steps, overheadTokens }: Pick<Conversation, 'steps' | 'overheadTokens'>,
  { thresholdFraction, keptFraction, windowTokens, snapshotTokens }: CliPolicy,
): Fold[] {
  const sums = sumSteps(steps);
  const folds: Fold[] = [];
  let start = 0;
  for (const [index, { isTurnEnd }] of steps.entries()) {
    const end = index + 1;
    const known = folds.length > 0 ? snapshotTokens : 0;
    const historyTokens = known + (sums[end] ?? 0) - (sums[start] ?? 0);
    if (!isTurnEnd || overheadTokens + historyTokens < thresholdFraction * windowTokens) continue;
    const target = (1 - keptFraction) * historyTokens;
    let next = start + 1;
    while (
      next < end &&
      !(
        steps[next]?.isTurnStart === true &&
        known + (sums[next] ?? 0) - (sums[start] ?? 0) >= target
      )
    )
      next += 1;
    start = next;
    folds.push({ end, start });
  }
  return folds;
}
