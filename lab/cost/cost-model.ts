import type { ModelPrice } from '#shared/models/model-entry.ts';
import type { CloudPrices } from './cloud-prices.ts';

/** What Firestore and Pub/Sub are asked for. */
export interface Operations {
  reads: number;
  writes: number;
  deletes: number;
  messages: number;
}

/** What a turn or a compaction was seen to take, on average. */
export interface Counted {
  turn: Operations;
  compaction: Operations & {
    calls: number;
    /** Tokens that all its calls read ÷ tokens of the context before. */
    readFactor: number;
    outputTokens: number;
    /** Of the snapshot and its frame, in the context after. */
    snapshotTokens: number;
  };
}

export interface Dialogue {
  turns: number;
  /** System instruction and tools. */
  overheadTokens: number;
  messageTokens: number;
  answerTokens: number;
  /** Share of prompts that find the beginning of the prompt before in the cache, 0 to 1. */
  hitFraction: number;
}

/** How a conversation is kept short. */
export interface Strategy {
  /** A compaction follows the turn that reaches it; Infinity: none ever does. */
  thresholdTokens: number;
  /** What of the context stays verbatim, of so many tokens before. */
  tailTokens: (contextTokens: number) => number;
  /** What each message brings back of the turns that are folded; it is in no cache. */
  recalledTokens: number;
  counted: Counted;
}

export interface Bill {
  /** US dollars for a thousand turns. */
  chat: number;
  /** Of chat, for what messages brought back. */
  recall: number;
  compactions: number;
  operations: number;
  total: number;
  compactionCount: number;
  /** Largest prompt. */
  peakTokens: number;
}

/** Prompts below it are not cached: implicit caching of Gemini 2.5 and later. */
const CACHED_FROM_TOKENS = 4_096;
const MILLION = 1_000_000;

/** US dollars of one call; `cachedTokens` are part of the prompt. */
export function callDollars(
  price: ModelPrice,
  call: { promptTokens: number; cachedTokens: number; outputTokens: number },
): number {
  const { promptTokens, cachedTokens, outputTokens } = call;
  const rates = price.above && promptTokens > price.above.promptTokens ? price.above : price;
  const dollars =
    rates.input * (promptTokens - cachedTokens) +
    rates.cached * cachedTokens +
    rates.output * outputTokens;
  return dollars / MILLION;
}

export const operationDollars = (operations: Operations, prices: CloudPrices): number =>
  operations.reads * prices.perRead +
  operations.writes * prices.perWrite +
  operations.deletes * prices.perDelete +
  operations.messages * prices.perMessage;

/**
 * What a conversation costs, turn by turn: each answer reads the whole context, of which the prompt before may be
 * cached; a compaction reads the context and leaves snapshot and tail, of which nothing is. Nothing is longer than
 * the window: what exceeds it is dropped.
 */
export function billOf(
  dialogue: Dialogue,
  strategy: Strategy,
  input: { chat: ModelPrice; summariser: ModelPrice; cloud: CloudPrices; windowTokens: number },
): Bill {
  const { turns, overheadTokens, messageTokens, answerTokens, hitFraction } = dialogue;
  const { thresholdTokens, tailTokens, recalledTokens, counted } = strategy;
  const { compaction } = counted;
  const sum = { chat: 0, recall: 0, compactions: 0, operations: 0 };
  let contextTokens = 0;
  let knownTokens = 0;
  let compactionCount = 0;
  let peakTokens = 0;
  for (let turn = 0; turn < turns; turn++) {
    contextTokens = Math.min(contextTokens, input.windowTokens - overheadTokens - messageTokens);
    const promptTokens = overheadTokens + contextTokens + messageTokens;
    const reusable = promptTokens < CACHED_FROM_TOKENS ? 0 : Math.min(knownTokens, promptTokens);
    const cachedTokens = hitFraction * reusable;
    const call = { promptTokens, cachedTokens, outputTokens: answerTokens };
    const chatDollars = callDollars(input.chat, call);
    const recalled = compactionCount > 0 ? recalledTokens : 0;
    const dollars = callDollars(input.chat, { ...call, promptTokens: promptTokens + recalled });
    sum.chat += dollars;
    sum.recall += dollars - chatDollars;
    sum.operations += operationDollars(counted.turn, input.cloud);
    peakTokens = Math.max(peakTokens, promptTokens + recalled);
    knownTokens = promptTokens;
    contextTokens += messageTokens + answerTokens;
    if (contextTokens < thresholdTokens) continue;
    const calls = Math.max(1, compaction.calls);
    const perCall = {
      promptTokens: (compaction.readFactor * contextTokens) / calls,
      cachedTokens: 0,
      outputTokens: compaction.outputTokens / calls,
    };
    sum.compactions += calls * callDollars(input.summariser, perCall);
    sum.operations += operationDollars(compaction, input.cloud);
    contextTokens = Math.min(contextTokens, compaction.snapshotTokens + tailTokens(contextTokens));
    knownTokens = overheadTokens;
    compactionCount += 1;
  }
  const thousand = 1_000 / Math.max(1, turns);
  const chat = sum.chat * thousand;
  const recall = sum.recall * thousand;
  const compactions = sum.compactions * thousand;
  const operations = sum.operations * thousand;
  const total = chat + compactions + operations;
  return { chat, recall, compactions, operations, total, compactionCount, peakTokens };
}

export interface GridPoint {
  thresholdTokens: number;
  tailTokens: number;
  total: number;
}

/** Every threshold with every tail that leaves room to compact; the cheapest is `cheapest(grid)`. */
export const gridOf = (
  thresholds: readonly number[],
  tails: readonly number[],
  total: (thresholdTokens: number, tailTokens: number) => number,
): GridPoint[] =>
  thresholds.flatMap((thresholdTokens) =>
    tails
      .filter((tailTokens) => tailTokens <= thresholdTokens / 2)
      .map((tailTokens) => ({
        thresholdTokens,
        tailTokens,
        total: total(thresholdTokens, tailTokens),
      })),
  );

/** The point of least cost. Throws RangeError for an empty grid. */
export function cheapest(grid: readonly GridPoint[]): GridPoint {
  const [best] = grid.toSorted((a, b) => a.total - b.total);
  if (best === undefined) throw new RangeError('an empty grid has no cheapest point');
  return best;
}
