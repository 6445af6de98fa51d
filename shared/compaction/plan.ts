import { assembleContext, promptOf, type ContextSource } from '../conversation/assemble-context.ts';
import type { Content } from '../conversation/content.ts';
import { CALIBRATION_MAX } from '../conversation/meter.ts';
import type { Turn } from '../conversation/turn.ts';
import { curate } from './curate.ts';
import { mediaFamilyOf } from './media-tokens.ts';
import type { CompactionPolicy } from './policy.ts';
import { findSplitPoint, foldRange } from './split-point.ts';
import { withoutFrame } from './snapshot-text.ts';
import { planMasks, storedMasks, type PlannedMask } from './tail-masks.ts';
import { estimatePromptTokens, type TokenCounting } from './token-estimate.ts';

/** Bound of a summariser's answer: scratchpad and snapshot together. */
export const SUMMARY_OUTPUT_TOKENS = 8_192;
/** Instruction, anchor, first answer and critique stand beside the turns in the second pass. */
const REQUEST_TOKENS = 2 * SUMMARY_OUTPUT_TOKENS + 2_000;
/** Share of the summariser's window that may be filled when not everything fits, and of a small one. */
const PARTIAL_WINDOW_FRACTION = 0.6;

export interface PlanSource {
  /** The context now; its turns are terminal, in order, without a gap. */
  context: ContextSource;
  policy: CompactionPolicy;
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

interface SummariserInput {
  contents: Content[];
  folded: Turn[];
}

/**
 * What the summariser reads of `folded`: the full turns where they fit its window, else the masked
 * ones, else fewer turns, so that every compaction gets on and nothing is left out unseen.
 */
function summariserInput(
  source: PlanSource,
  masked: ContextSource,
  folded: readonly Turn[],
): SummariserInput | undefined {
  const { policy, summariserWindowTokens } = source;
  const counting = countingOf(policy, source.context.model);
  const contentsOf = (context: ContextSource, turns: readonly Turn[]) => {
    const { history } = context;
    const unframed = history && { ...history, snapshotText: withoutFrame(history.snapshotText) };
    return assembleContext({ ...context, history: unframed, pins: [], turns }).map(
      ({ content }) => content,
    );
  };
  // Rather fewer turns than a refused call: a calibration below 1 earns no room here.
  const fitFactor = Math.min(CALIBRATION_MAX, Math.max(1, source.calibration));
  const tokensOf = (contents: readonly Content[]) =>
    Math.ceil(fitFactor * estimatePromptTokens({ contents }, counting));

  const partialRoom = PARTIAL_WINDOW_FRACTION * summariserWindowTokens;
  const room = Math.max(summariserWindowTokens - REQUEST_TOKENS, partialRoom);
  const whole = contentsOf(withMasks(source.context, []), folded);
  if (tokensOf(whole) <= room) return { contents: curate(whole), folded: [...folded] };
  const shortened = contentsOf(masked, folded);
  if (tokensOf(shortened) <= room) return { contents: curate(shortened), folded: [...folded] };

  let tokens = tokensOf(contentsOf(masked, []));
  const turnOnly = masked.history && { ...masked.history, snapshotText: '' };
  const fitting = folded.filter((turn) => {
    tokens += tokensOf(contentsOf({ ...masked, history: turnOnly }, [turn]));
    return tokens <= partialRoom;
  });
  if (fitting.length === 0) return undefined;
  return { contents: curate(contentsOf(masked, fitting)), folded: fitting };
}

/**
 * Decides what a compaction folds. Whole turns only, the newest turn in the context always stays, and
 * the tail's tool outputs come within their budget. Empty context → nothing to fold.
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
  const splitSeq = lastFoldedSeq(masked, visible, policy.preserveFraction);
  if (splitSeq === undefined) return { kind: 'noop', reason: 'NOTHING_TO_FOLD' };
  const input = summariserInput(
    source,
    masked,
    visible.filter(({ seq }) => seq <= splitSeq),
  );
  if (input === undefined) return { kind: 'noop', reason: 'TURN_TOO_LARGE' };

  const firstKept = visible[input.folded.length]?.seq ?? splitSeq + 1;
  const upTo = firstKept - 1;
  return {
    kind: 'fold',
    from: context.turns[0]?.seq ?? upTo,
    upTo,
    folded: input.folded,
    kept: context.turns.filter(({ seq }) => seq > upTo),
    masks: masks.filter(({ seq }) => seq > upTo),
    contents: input.contents,
    hasPreviousSnapshot: (context.history?.snapshotText ?? '') !== '',
  };
}
