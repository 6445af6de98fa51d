import type { Content } from '#shared/models/content.ts';
import { sentOutputs } from '#shared/conversation/context/sent-view.ts';
import {
  type ContextSource,
  assembleContext,
  assemblePrompt,
} from '#shared/conversation/context/assemble-context.ts';
import type { KeptPins } from '#shared/conversation/context/pins.ts';
import type { Prompt } from '#shared/ports/ports.ts';
import { estimateContentTokens, estimatePromptTokens } from '#shared/tokens/token-estimate.ts';
import type { FoldPlan } from './plan.ts';
import { frameSnapshot } from './snapshot-text.ts';
import { decideSwap, isSoundCount, type SwapDecision } from './swap-decision.ts';
import { pinsAfterFold, type Draft, type CompactionWork } from './work.ts';

/** The outcome of a draft that is no snapshot. */
export const refusedOutcome = (refused: Exclude<Draft, { kind: 'snapshot' }>) =>
  refused.kind === 'empty'
    ? ({ state: 'FAILED_EMPTY_SUMMARY', reason: 'EMPTY' } as const)
    : ({ state: 'FAILED_VERIFICATION', reason: refused.reason } as const);

/** The prompt that a context makes, with or without a message: tool outputs in the forms in which chat sends them. */
export const sentPrompt = (
  { forms }: Pick<CompactionWork, 'forms'>,
  context: ContextSource,
  message?: Content,
): Prompt => assemblePrompt(context, sentOutputs(assembleContext(context), forms).items, message);

/** What a drafted snapshot makes of a context. */
export interface NextContext {
  snapshotText: string;
  context: ContextSource;
  /** Its pins, and which of them are new. */
  pins: KeptPins;
  /** Uncalibrated tokens of the snapshot and its acknowledgement. */
  snapshotTokens: number;
  prompts: { before: Prompt; after: Prompt };
}

/**
 * The context after the swap. `boundary`: the mark around the snapshot; `memory`: the user's notes as prompts show them
 * from then on.
 */
export function nextContext(
  work: CompactionWork,
  plan: FoldPlan,
  draft: { body: string; boundary: string; memory?: ContextSource['memory'] },
): NextContext {
  const { context: before, forms } = work;
  const snapshotText = frameSnapshot(draft);
  const pins = pinsAfterFold(work, plan);
  const context: ContextSource = {
    ...before,
    memory: draft.memory,
    pins: pins.pins,
    history: { snapshotText },
    coveredThrough: plan.coveredThrough,
    turns: plan.storedTail,
  };
  const snapshotItems = assembleContext({ ...context, memory: undefined, pins: [], turns: [] });
  return {
    snapshotText,
    context,
    pins,
    snapshotTokens: snapshotItems.reduce(
      (sum, { content }) => sum + estimateContentTokens(content, forms.counting),
      0,
    ),
    prompts: { before: sentPrompt(work, before), after: sentPrompt(work, context) },
  };
}

/** Tokens of both prompts by the same counter. */
export interface TokenCounts {
  /** null = not countable. */
  beforeTokens: number | null;
  afterTokens: number | null;
  source: 'counted' | 'estimated';
}

/** Calibrated tokens of both prompts. */
export function estimateCounts(
  { calibration, forms }: Pick<CompactionWork, 'calibration' | 'forms'>,
  { before, after }: NextContext['prompts'],
): TokenCounts {
  const estimate = (prompt: Prompt) => {
    const tokens = Math.ceil(calibration * estimatePromptTokens(prompt, forms.counting));
    return isSoundCount(tokens) ? tokens : null;
  };
  return {
    beforeTokens: estimate(before),
    afterTokens: estimate(after),
    source: 'estimated',
  };
}

/**
 * Whether the context with the new snapshot is enough smaller to be used. Functions that are declared only after a fold do
 * not count against it.
 */
export function decideNextContext(
  work: CompactionWork,
  plan: FoldPlan,
  { prompts, counts }: { prompts: NextContext['prompts']; counts: TokenCounts },
): SwapDecision {
  const { policy, overheadTokens, calibration, forms, trigger = 'auto' } = work;
  /** Calibrated estimate of the functions that the model is told of. */
  const declarationTokens = ({ tools }: Prompt) =>
    calibration * estimatePromptTokens({ tools, contents: [] }, forms.counting);
  return decideSwap({
    ...counts,
    overheadTokens,
    addedOverheadTokens: declarationTokens(prompts.after) - declarationTokens(prompts.before),
    policy,
    trigger,
    isPartial: plan.isPartial,
  });
}
