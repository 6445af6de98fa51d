import type { CompactionPolicy } from '#shared/compaction/policy.ts';
import {
  assembleContext,
  assemblePrompt,
  type ContextSource,
} from '#shared/conversation/context/assemble-context.ts';
import type { Trigger } from '#shared/conversation/documents/conversation.ts';
import { findMediaFamily } from '#shared/tokens/media-tokens.ts';
import { estimatePromptTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import { sentOutputs, type OutputForms } from '#shared/conversation/context/sent-view.ts';
import { wantedSaving } from './swap-decision.ts';

/** A context, and what its size depends on. */
export interface SizedContext {
  context: ContextSource;
  policy: CompactionPolicy;
  /** What asked for a compaction of it; default: anything but an overflow. */
  trigger?: Trigger;
  /** From our estimate to what the model reports. */
  calibration: number;
  /** In which its tool outputs are sent. */
  forms: OutputForms;
}

export const tokenCounting = (policy: CompactionPolicy, model: string): TokenCounting => ({
  rule: policy.tokenRule,
  mediaFamily: findMediaFamily(model),
});

/** Calibrated estimate of the whole prompt that a context makes. */
export function estimateContextTokens(
  context: ContextSource,
  { calibration, forms }: Pick<SizedContext, 'calibration' | 'forms'>,
): number {
  const { items } = sentOutputs(assembleContext(context), forms);
  const prompt = assemblePrompt(context, items);
  return Math.ceil(calibration * estimatePromptTokens(prompt, forms.counting));
}

/** Calibrated estimate of snapshot and turns, without system instruction, memory and pins. */
function conversationTokens({ calibration, forms }: SizedContext, context: ContextSource): number {
  const items = assembleContext({ ...context, memory: undefined, pins: [] });
  const contents = sentOutputs(items, forms).items.map(({ content }) => content);
  return Math.ceil(calibration * estimatePromptTokens({ contents }, forms.counting));
}

/** Whether an automatic run could not save enough even with an empty snapshot: no model need be asked. */
export function savesTooLittle(source: SizedContext, after: ContextSource): boolean {
  const { context, policy, trigger = 'auto' } = source;
  if (policy.acceptsEqualSize) return false;
  const beforeTokens = conversationTokens(source, context);
  const wanted = wantedSaving({ policy, trigger, conversationTokens: beforeTokens });
  return beforeTokens - conversationTokens(source, after) < wanted;
}
