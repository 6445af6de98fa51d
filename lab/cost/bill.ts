import { tokenMicros } from '#shared/models/find-price.ts';
import type { ModelPrice } from '#shared/models/model-entry.ts';
import { sumSteps, type Conversation, type Step } from './conversation.ts';
import { operationDollars, type CloudPrices, type Operations, type Summariser } from './prices.ts';

/** Tokens of one call; `cachedTokens` are part of the prompt. */
interface Call {
  promptTokens: number;
  cachedTokens: number;
  outputTokens: number;
}

const MILLION = 1_000_000;

/** US dollars of one call. */
const callDollars = (price: ModelPrice, call: Call): number => tokenMicros(price, call) / MILLION;

/** How a model serves prompts from its cache. */
interface Cache {
  /** Share of prompts that find the beginning of the prompt before in it, 0 to 1. */
  hitFraction: number;
  /** Prompts that share fewer tokens with the one before are not served from it; Infinity: there is none. */
  cacheFromTokens: number;
}

/** What the cache holds of a prompt, of which so many tokens begin like the one before. */
const cachedShare = (sharedTokens: number, { hitFraction, cacheFromTokens }: Cache): number =>
  sharedTokens < cacheFromTokens ? 0 : hitFraction * sharedTokens;

/** Between two calls of a conversation. */
interface Place {
  /** Snapshot and turns in the next prompt, without overhead. */
  contextTokens: number;
  /** Beginning of the next prompt that the one before had as well. */
  sharedTokens: number;
  /** The same at the next turn, if something was recalled for this one. */
  turnSharedTokens: number;
}

/** After a swap nothing but system instruction and tools stands where it stood. */
const placeAfterSwap = (contextTokens: number, overheadTokens: number): Place => ({
  contextTokens,
  sharedTokens: overheadTokens,
  turnSharedTokens: overheadTokens,
});

/**
 * The next call of a conversation, and where it is then. What is recalled for a message stands in front of it, for its
 * turn alone: at the next turn the prompt differs from there on. What exceeds the window is dropped, the oldest first,
 * and then the whole prompt is new.
 */
function nextCall(
  { overheadTokens, hitFraction }: Pick<Conversation, 'overheadTokens' | 'hitFraction'>,
  step: Step,
  from: Place & { recalledTokens: number; windowTokens: number; cacheFromTokens: number },
): { call: Call; place: Place } {
  const { recalledTokens, windowTokens, cacheFromTokens } = from;
  const beside = overheadTokens + recalledTokens + step.inputTokens;
  const contextTokens = Math.max(0, Math.min(from.contextTokens, windowTokens - beside));
  const isClipped = contextTokens < from.contextTokens;
  const promptTokens = contextTokens + beside;
  const sharedTokens = isClipped ? overheadTokens : from.sharedTokens;
  const turnSharedTokens = step.isTurnStart
    ? overheadTokens + contextTokens
    : from.turnSharedTokens;
  const isForgotten = step.isTurnEnd && recalledTokens > 0;
  return {
    call: {
      promptTokens,
      cachedTokens: cachedShare(sharedTokens, { hitFraction, cacheFromTokens }),
      outputTokens: step.outputTokens,
    },
    place: {
      contextTokens: contextTokens + step.inputTokens + step.outputTokens,
      sharedTokens: isForgotten ? turnSharedTokens : promptTokens,
      turnSharedTokens,
    },
  };
}

/** The calls of a compaction that reads so many tokens. */
function summariserCalls(
  { instructionTokens, outputTokens, isChecked }: Summariser,
  readTokens: number,
  cache: Cache,
): Call[] {
  const promptTokens = instructionTokens + readTokens;
  const main = { promptTokens, cachedTokens: 0, outputTokens };
  if (!isChecked) return [main];
  const check = {
    promptTokens: promptTokens + outputTokens,
    cachedTokens: cachedShare(promptTokens, cache),
    outputTokens,
  };
  return [main, check];
}

/** A compaction after the first `end` steps, of which those from `start` on stay word for word. */
export interface Fold {
  end: number;
  start: number;
}

/** What a model costs, and from how many shared tokens on its cache serves prompts; Infinity: it has none. */
export interface ModelRates {
  price: ModelPrice;
  cacheFromTokens: number;
}

/** What everything costs. */
interface Rates {
  /** Of the conversation, which summarises it, too. */
  model: ModelRates;
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

/** What a conversation costs that is compacted where the folds say, in the order of their ends. */
export function billFolds(
  conversation: Conversation,
  folds: readonly Fold[],
  { rates, means }: { rates: Rates; means: Means },
): Bill {
  const { steps, turns, overheadTokens, hitFraction } = conversation;
  const { summariser } = means;
  const { cacheFromTokens } = rates.model;
  const cache = { hitFraction, cacheFromTokens };
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
      cacheFromTokens,
    });
    sum.chat += callDollars(rates.model.price, next.call);
    if (step.isTurnStart) sum.operations += operationDollars(means.turn, rates.cloud);
    peakTokens = Math.max(peakTokens, next.call.promptTokens);
    ({ place } = next);
    const fold = due.get(index + 1);
    if (fold === undefined) continue;
    const readTokens = snapshotTokens + (sums[fold.start] ?? 0) - (sums[start] ?? 0);
    for (const call of summariserCalls(summariser, readTokens, cache))
      sum.compactions += callDollars(rates.model.price, call);
    sum.operations += operationDollars(means.compaction, rates.cloud);
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
