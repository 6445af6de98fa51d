import type { ModelPrice } from '#shared/models/model-entry.ts';
import { operationDollars, type CloudPrices, type Operations } from '../cloud-prices.ts';
import {
  callDollars,
  nextCall,
  placeAfterSwap,
  summariserCalls,
  type Place,
  type Summariser,
} from './call-cost.ts';
import { sumSteps, type Conversation } from './conversation.ts';

/** A compaction after the first `end` steps, of which those from `start` on stay word for word. */
export interface Fold {
  end: number;
  start: number;
  /** Its calls were made, and nothing was swapped. */
  isRefused?: boolean;
}

/** What a model costs, and from how many shared tokens on its cache serves prompts; Infinity: it has none. */
export interface ModelRates {
  price: ModelPrice;
  cacheFromTokens: number;
}

/** What everything costs. */
export interface Rates {
  chat: ModelRates;
  summary: ModelRates;
  cloud: CloudPrices;
  windowTokens: number;
}

/** What a turn and a compaction take, whenever they are. */
export interface Means {
  summariser: Summariser;
  /** What each message brings back of folded turns. */
  recalledTokens: number;
  turn: Operations;
  compaction: Operations;
}

export interface Bill {
  /** US dollars for a thousand turns. */
  chat: number;
  compactions: number;
  operations: number;
  total: number;
  /** For a thousand turns. */
  compactionCount: number;
  /** Largest prompt. */
  peakTokens: number;
}

/** US dollars of the calls of one compaction. */
export const summaryDollars = (
  { summary }: Pick<Rates, 'summary'>,
  summariser: Summariser,
  { readTokens, hitFraction }: { readTokens: number; hitFraction: number },
): number => {
  const { price, cacheFromTokens } = summary;
  return summariserCalls(summariser, readTokens, { hitFraction, cacheFromTokens }).reduce(
    (dollars, call) => dollars + callDollars(price, call),
    0,
  );
};

/** What a conversation costs that is compacted where the folds say, in the order of their ends. */
export function billFolds(
  conversation: Conversation,
  folds: readonly Fold[],
  { rates, means }: { rates: Rates; means: Means },
): Bill {
  const { steps, turns, overheadTokens, hitFraction } = conversation;
  const { summariser } = means;
  const sums = sumSteps(steps);
  const due = new Map(folds.map((fold) => [fold.end, fold]));
  const sum = { chat: 0, compactions: 0, operations: 0 };
  let place: Place = placeAfterSwap(0, overheadTokens);
  let start = 0;
  let snapshotTokens = 0;
  let peakTokens = 0;
  for (const [index, step] of steps.entries()) {
    const recalledTokens = snapshotTokens > 0 ? means.recalledTokens : 0;
    const next = nextCall(conversation, step, {
      ...place,
      recalledTokens,
      windowTokens: rates.windowTokens,
      cacheFromTokens: rates.chat.cacheFromTokens,
    });
    sum.chat += callDollars(rates.chat.price, next.call);
    if (step.isTurnStart) sum.operations += operationDollars(means.turn, rates.cloud);
    peakTokens = Math.max(peakTokens, next.call.promptTokens);
    ({ place } = next);
    const fold = due.get(index + 1);
    if (fold === undefined) continue;
    const readTokens = snapshotTokens + (sums[fold.start] ?? 0) - (sums[start] ?? 0);
    sum.compactions += summaryDollars(rates, summariser, { readTokens, hitFraction });
    sum.operations += operationDollars(means.compaction, rates.cloud);
    if (fold.isRefused === true) continue;
    ({ start } = fold);
    ({ snapshotTokens } = summariser);
    const keptTokens = (sums[fold.end] ?? 0) - (sums[start] ?? 0);
    place = placeAfterSwap(snapshotTokens + keptTokens, overheadTokens);
  }
  const thousand = 1_000 / Math.max(1, turns);
  const chat = sum.chat * thousand;
  const compactions = sum.compactions * thousand;
  const operations = sum.operations * thousand;
  return {
    chat,
    compactions,
    operations,
    total: chat + compactions + operations,
    compactionCount: folds.length * thousand,
    peakTokens,
  };
}
