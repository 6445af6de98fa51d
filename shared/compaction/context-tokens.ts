import type { CompactionPolicy } from '#shared/compaction/policy.ts';
import {
  assembleContext,
  assemblePrompt,
  type ContextItem,
  type ContextSource,
} from '#shared/conversation/context/assemble-context.ts';
import type { Part } from '#shared/conversation/documents/content.ts';
import type { Trigger } from '#shared/conversation/documents/conversation.ts';
import { findMediaFamily } from '#shared/tokens/media-tokens.ts';
import { estimatePromptTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import { wantedSaving } from './swap-decision.ts';

/** A context whose parts are weighed once, however often they are counted. */
export interface WeighedContext {
  context: ContextSource;
  policy: CompactionPolicy;
  /** What asked for a compaction of it; default: anything but an overflow. */
  trigger?: Trigger;
  /** From our estimate to what the model reports. */
  calibration: number;
  weighed: Map<Part, number>;
}

export const tokenCounting = (policy: CompactionPolicy, model: string): TokenCounting => ({
  rule: policy.tokenRule,
  mediaFamily: findMediaFamily(model),
});

/** So many of the newest turns are weighed first to see whether a compaction saves enough. */
const FIRST_WEIGHED_TURNS = 64;

export const countingIn = ({ policy, context, weighed }: WeighedContext): TokenCounting => ({
  ...tokenCounting(policy, context.model),
  weighed,
});

/** Calibrated estimate of the whole prompt that the context makes. `counting`: one that remembers what it has weighed. */
export function estimateContextTokens(
  context: ContextSource,
  { policy, calibration }: Pick<WeighedContext, 'policy' | 'calibration'>,
  counting: TokenCounting = tokenCounting(policy, context.model),
): number {
  const prompt = assemblePrompt(context, assembleContext(context));
  return Math.ceil(calibration * estimatePromptTokens(prompt, counting));
}

/** Calibrated estimate of snapshot and turns, without system instruction, memory and pins. */
function conversationTokens(source: WeighedContext, context: ContextSource): number {
  const items: ContextItem[] = assembleContext({ ...context, memory: undefined, pins: [] });
  const contents = items.map(({ content }) => content);
  return Math.ceil(source.calibration * estimatePromptTokens({ contents }, countingIn(source)));
}

/**
 * Whether an automatic run could not save enough even with an empty snapshot: no model need be asked. The longer
 * the conversation, the more is saved, and its newest turns nearly always settle it: older ones are weighed only where
 * those do not.
 */
export function savesTooLittle(source: WeighedContext, after: ContextSource): boolean {
  const { context, policy, trigger = 'auto' } = source;
  if (policy.acceptsEqualSize) return false;
  const afterTokens = conversationTokens(source, after);
  const isTooLittle = (turns: ContextSource['turns']): boolean => {
    const beforeTokens = conversationTokens(source, { ...context, turns });
    const wanted = wantedSaving({ policy, trigger, conversationTokens: beforeTokens });
    return beforeTokens - afterTokens < wanted;
  };
  const { length } = context.turns;
  for (let newest = FIRST_WEIGHED_TURNS; newest < length; newest *= 4)
    if (!isTooLittle(context.turns.slice(-newest))) return false;
  return isTooLittle(context.turns);
}
