import { assembleContext, promptOf, type ContextSource } from '../conversation/assemble-context.ts';
import type { Content } from '../conversation/content.ts';
import type { Trigger } from '../conversation/head.ts';
import type { Turn } from '../conversation/turn.ts';
import { policyConstants } from './constants.ts';
import { mediaFamilyOf } from './media-tokens.ts';
import type { CompactionPolicy } from './policy.ts';
import { findSplitPoint, foldRange } from './split-point.ts';
import { summariserInput } from './summariser-input.ts';
import { planMasks, storedMasks, type PlannedMask } from './tail-masks.ts';
import { estimatePromptTokens, type TokenCounting } from './token-estimate.ts';

export interface PlanSource {
  /** The context now; its turns are terminal, in order, without a gap. */
  context: ContextSource;
  policy: CompactionPolicy;
  /** What asked for it; default: anything but an overflow. */
  trigger?: Trigger;
  /** From our estimate to what the model reports. */
  calibration: number;
  summariserWindowTokens: number;
  /** False while the breaker is open. */
  isModelAllowed: boolean;
  blobName: (text: string) => string;
}

/** Which turns go and what the summariser reads. */
export interface FoldPlan {
  kind: 'fold';
  /** First and last turn of the range; turns outside the context in between go silently. */
  from: number;
  upTo: number;
  /** Not all that should be folded: the summariser could not have read more. */
  isPartial: boolean;
  /** The turns of the range that the context showed. */
  folded: Turn[];
  /** The turns after the range. */
  kept: Turn[];
  masks: PlannedMask[];
  /** What the summariser reads, previous snapshot first. */
  contents: Content[];
  hasPreviousSnapshot: boolean;
}

export type Plan =
  | FoldPlan
  /** No model: the same snapshot and turns, with long tool outputs shortened. Estimated tokens. */
  | { kind: 'truncate'; masks: PlannedMask[]; beforeTokens: number; afterTokens: number }
  | { kind: 'noop'; reason: 'NOTHING_TO_FOLD' | 'TURN_TOO_LARGE' | 'BREAKER_OPEN' };

/**
 * The outcome of a plan that does nothing. Where there is something to fold and no way to do it, it is a
 * failure: who waits for room must learn why.
 */
export const noopState = ({ reason }: Extract<Plan, { kind: 'noop' }>) =>
  reason === 'TURN_TOO_LARGE' ? 'FAILED_ERROR' : 'NOOP';

export const countingOf = (policy: CompactionPolicy, model: string): TokenCounting => ({
  rule: policy.tokenRule,
  mediaFamily: mediaFamilyOf(model),
});

const withMasks = (context: ContextSource, masks: readonly PlannedMask[]): ContextSource => ({
  ...context,
  history: { snapshotText: context.history?.snapshotText ?? '', masks: storedMasks(masks) },
});

/** Calibrated estimate of the whole prompt that the context makes. */
export function estimateContextTokens(
  context: ContextSource,
  source: Pick<PlanSource, 'policy' | 'calibration'>,
): number {
  const prompt = promptOf(context, assembleContext(context));
  const estimate = estimatePromptTokens(prompt, countingOf(source.policy, context.model));
  return Math.ceil(source.calibration * estimate);
}

function planTruncation(source: PlanSource, masks: PlannedMask[]): Plan {
  const beforeTokens = estimateContextTokens(source.context, source);
  const afterTokens = estimateContextTokens(withMasks(source.context, masks), source);
  if (afterTokens >= beforeTokens) return { kind: 'noop', reason: 'BREAKER_OPEN' };
  return { kind: 'truncate', masks, beforeTokens, afterTokens };
}

/** Last turn that the split of Gemini CLI's algorithm folds, or undefined. */
function lastFoldedSeq(masked: ContextSource, visible: readonly Turn[], preserveFraction: number) {
  // Pins never go through the summariser.
  const items = assembleContext({ ...masked, pins: [] });
  const contentsOf = new Map<number, Content[]>();
  for (const { seq, content } of items)
    if (seq !== undefined) contentsOf.set(seq, [...(contentsOf.get(seq) ?? []), content]);
  const split = findSplitPoint(
    items.map(({ content }) => content),
    1 - preserveFraction,
  );
  const memoryContents = items.filter(({ kind }) => kind !== 'turn').length;
  const range = foldRange({
    turns: visible.map(({ seq }) => ({ seq, contents: contentsOf.get(seq) ?? [] })),
    splitIndex: split - memoryContents,
  });
  return range?.upTo.seq;
}

/** Whether the context leaves room for new messages once everything up to `seq` is a snapshot. */
function isRelievedBy(source: PlanSource, masked: ContextSource, seq: number): boolean {
  const { policy } = source;
  const history = { snapshotText: '', masks: masked.history?.masks ?? [] };
  const turns = masked.turns.filter((turn) => turn.seq > seq);
  const tokens = estimateContextTokens({ ...masked, history, turns }, source);
  const after = tokens + policy.snapshotBudgetTokens;
  return after < policyConstants.overflowTargetFraction.value * policy.windowTokens;
}

/**
 * Last turn to fold. After an overflow the tail may be what fills the window: then all turns but the
 * newest go, and at last the newest too, or the conversation could never be written to again.
 */
function foldLimit(source: PlanSource, masked: ContextSource, visible: readonly Turn[]) {
  const usual = lastFoldedSeq(masked, visible, source.policy.preserveFraction);
  if (source.trigger !== 'overflow') return usual;
  const limits = [usual, visible.at(-2)?.seq, visible.at(-1)?.seq].filter(
    (seq) => seq !== undefined,
  );
  return limits.find((seq) => isRelievedBy(source, masked, seq)) ?? limits.at(-1);
}

/**
 * Decides what a compaction folds. Whole turns only; the newest turn in the context stays unless the
 * context overflowed and nothing else relieves it; the tail's tool outputs come within their budget.
 * Empty context → nothing to fold.
 */
export function planCompaction(source: PlanSource): Plan {
  const { context, policy } = source;
  const visible = context.turns.filter(({ inContext }) => inContext);
  const masks = planMasks({
    turns: visible,
    budgetTokens: policy.toolOutputBudgetTokens,
    counting: countingOf(policy, context.model),
    blobName: source.blobName,
  });
  if (!source.isModelAllowed) return planTruncation(source, masks);

  const masked = withMasks(context, masks);
  const splitSeq = foldLimit(source, masked, visible);
  if (splitSeq === undefined) return { kind: 'noop', reason: 'NOTHING_TO_FOLD' };
  const wanted = visible.filter(({ seq }) => seq <= splitSeq);
  const input = summariserInput(
    {
      unmasked: withMasks(context, []),
      masked,
      counting: countingOf(policy, context.model),
      calibration: source.calibration,
      windowTokens: source.summariserWindowTokens,
    },
    wanted,
  );
  if (input === undefined) return { kind: 'noop', reason: 'TURN_TOO_LARGE' };

  const firstKept = visible[input.folded.length]?.seq ?? splitSeq + 1;
  const upTo = firstKept - 1;
  return {
    kind: 'fold',
    from: context.turns[0]?.seq ?? upTo,
    upTo,
    isPartial: input.folded.length < wanted.length,
    folded: input.folded,
    kept: context.turns.filter(({ seq }) => seq > upTo),
    masks: masks.filter(({ seq }) => seq > upTo),
    contents: input.contents,
    hasPreviousSnapshot: (context.history?.snapshotText ?? '') !== '',
  };
}
