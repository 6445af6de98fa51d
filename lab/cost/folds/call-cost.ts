import { tokenMicros } from '#shared/models/find-price.ts';
import type { ModelPrice } from '#shared/models/model-entry.ts';
import type { Conversation, Step } from './conversation.ts';

/** Tokens of one call; `cachedTokens` are part of the prompt. */
interface Call {
  promptTokens: number;
  cachedTokens: number;
  outputTokens: number;
}

const MILLION = 1_000_000;

/** US dollars of one call. */
export const callDollars = (price: ModelPrice, call: Call): number =>
  tokenMicros(price, call) / MILLION;

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
export interface Place {
  /** Snapshot and turns in the next prompt, without overhead. */
  contextTokens: number;
  /** Beginning of the next prompt that the one before had as well. */
  sharedTokens: number;
  /** The same at the next turn, if something was recalled for this one. */
  turnSharedTokens: number;
}

/** After a swap nothing but system instruction and tools stands where it stood. */
export const placeAfterSwap = (contextTokens: number, overheadTokens: number): Place => ({
  contextTokens,
  sharedTokens: overheadTokens,
  turnSharedTokens: overheadTokens,
});

/**
 * The next call of a conversation, and where it is then. What is recalled for a message stands in front of it, for its
 * turn alone: at the next turn the prompt differs from there on. What exceeds the window is dropped, the oldest first,
 * and then the whole prompt is new.
 */
export function nextCall(
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

/** How a snapshot is made: by one call that reads what is folded and the snapshot before. */
export interface Summariser {
  /** System instruction and schema. */
  instructionTokens: number;
  outputTokens: number;
  /** Of the snapshot and its frame. */
  snapshotTokens: number;
  /** A second call reads the prompt and the answer again, and writes the snapshot anew. */
  isChecked: boolean;
}

/** The calls of a compaction that reads so many tokens. */
export function summariserCalls(
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
