import { cheapestFolds } from './folds/cheapest-folds.ts';
import type { Operations } from './cloud-prices.ts';
import { billFolds, type Bill, type Fold, type Means, type Rates } from './folds/fold-cost.ts';
import type { Setup } from './shape.ts';
import { cliSummariser } from './summarisers.ts';
import { foldAtThreshold, foldLikeGeminiCli } from './folds/threshold-folds.ts';

/** Gemini CLI asks at half of the window and keeps 30 %. */
export const GEMINI_CLI = { thresholdFraction: 0.5, keptFraction: 0.3 };

const nothing: Operations = { reads: 0, writes: 0, deletes: 0, messages: 0 };

/** Thresholds and tails that are looked through. */
const THRESHOLDS = [6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128, 256].map((each) => each * 1_000);
export const TAILS = [1, 2, 4, 8, 16].map((each) => each * 1_000);

export interface Point {
  thresholdTokens: number;
  tailTokens: number;
}

/** What one conversation costs with one model, by how it is kept short. */
export interface Books {
  /** What the service does by itself. */
  usual: Point;
  naive(): Bill;
  geminiCli(): Bill;
  /** Recap at a threshold with a tail. */
  recap(point: Point): Bill;
  /** The least that any moments of compaction cost, with the default's tail. */
  optimum(): Bill;
  /** Every threshold and tail with which a swap saves as much as it must, the cheapest first. */
  points(tails: readonly number[]): (Point & { total: number })[];
}

/** Without a store and recall. */
const others: Means = {
  summariser: cliSummariser,
  recalledTokens: 0,
  turn: nothing,
  compaction: nothing,
};

export function openBooks(
  { conversation, policy, summariser }: Setup,
  given: { rates: Rates; recalledTokens: number; turn: Operations; compaction: Operations },
): Books {
  const { rates, recalledTokens, turn, compaction } = given;
  const { windowTokens, minimumSavingFraction, rearmFraction } = policy;
  const means: Means = { summariser, recalledTokens, turn, compaction };
  const bill = (folds: readonly Fold[], by: Means) =>
    billFolds(conversation, folds, { rates, means: by });
  const { snapshotTokens } = summariser;
  const fold = (point: Point) =>
    foldAtThreshold(conversation, { ...point, snapshotTokens, rearmFraction });
  const isUseful = ({ thresholdTokens, tailTokens }: Point) =>
    snapshotTokens + tailTokens <= (1 - minimumSavingFraction) * thresholdTokens;
  const usual = {
    thresholdTokens: policy.softThresholdTokens ?? Infinity,
    tailTokens: policy.tailTokens,
  };
  const list = (tails: readonly number[]): Point[] =>
    [...new Set([...THRESHOLDS, usual.thresholdTokens])]
      .flatMap((thresholdTokens) => tails.map((tailTokens) => ({ thresholdTokens, tailTokens })))
      .filter(isUseful);
  const cliPolicy = {
    ...GEMINI_CLI,
    windowTokens,
    snapshotTokens: cliSummariser.snapshotTokens,
  };
  return {
    usual,
    naive: () => bill([], others),
    geminiCli: () => bill(foldLikeGeminiCli(conversation, cliPolicy), others),
    recap: (point) => bill(fold(point), means),
    optimum: () => {
      const tails = [usual.tailTokens];
      const known = list(tails).map(fold);
      return bill(cheapestFolds(conversation, tails, { rates, means, known }), means);
    },
    points: (tails) =>
      list(tails)
        .map((point) => ({ ...point, total: bill(fold(point), means).total }))
        .toSorted((a, b) => a.total - b.total),
  };
}
