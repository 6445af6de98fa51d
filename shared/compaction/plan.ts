import { planMasks, storedMasks, type PlannedMask } from '#shared/compaction/tool-output-budget.ts';
import type { ContextSource } from '#shared/conversation/context/assemble-context.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import type { CoveredThrough } from '#shared/conversation/documents/conversation.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import type { Repairs } from '#shared/conversation/repair/repair-contents.ts';
import {
  estimateContextTokens,
  countingIn,
  savesTooLittle,
  type WeighedContext,
} from './context-tokens.ts';
import type { SummaryStrategy } from './policy-settings.ts';
import { foldedContents, isShown, slicedTurn } from './shown-turns.ts';
import { foldPoint, keptTurns } from './split.ts';
import { summariserInput, type Chunk, type SummariserInput } from './summariser-input.ts';

/** The turns of its context are terminal, in order, without a gap. */
export interface PlanSource extends Omit<WeighedContext, 'weighed'> {
  summariserWindowTokens: number;
  /** Who writes the snapshot; the one call of `gemini-cli` may not get all that should be folded. */
  strategy: SummaryStrategy;
  /** False while the breaker is open, or the conversation has spent what it may. */
  isModelAllowed: boolean;
  /**
   * Without a model: code alone writes a snapshot where shorter tool outputs leave the context at this many
   * tokens or more. Absent: never.
   */
  foldFromTokens?: number | undefined;
  blobName: (text: string) => string;
}

/** Which turns go and what the summariser reads. */
export interface FoldPlan {
  kind: 'fold';
  /** First and last turn of the range; turns outside the context in between go silently. */
  from: number;
  upTo: number;
  /** > 0: of turn `upTo` only the answer contents up to this one are folded. */
  contentIndex: number;
  /** Both, as the conversation document of the next generation has them. */
  coveredThrough: CoveredThrough;
  /** Not all that should be folded: the summariser could not have read more. */
  isPartial: boolean;
  /** The turns of the range that the context showed, unmasked, with those contents that are folded now. */
  folded: Turn[];
  /** `folded`, cut and shortened as the calls are to read it; a turn may stand in several chunks. */
  chunks: Chunk[];
  /** The turns of the next context: whole, as `coveredThrough` expects them. */
  kept: Turn[];
  /** `kept` with those contents that the next context shows, unmasked: what need not be summarised. */
  tail: Turn[];
  /** Of `kept`. */
  masks: PlannedMask[];
  /** What all chunks hold as one prompt, previous snapshot first; made when it is first read. */
  readonly contents: Content[];
  /** What was mended of the turns, where no model would have taken them as they were stored. */
  repairs?: Repairs | undefined;
  hasPreviousSnapshot: boolean;
}

/** No model: the same snapshot and turns, with long tool outputs shortened. Estimated tokens. */
export interface TruncatePlan {
  kind: 'truncate';
  masks: PlannedMask[];
  beforeTokens: number;
  afterTokens: number;
}

/** A plan that does something. */
export type ActivePlan = FoldPlan | TruncatePlan;

interface NoopPlan {
  kind: 'noop';
  reason: 'NOTHING_TO_FOLD' | 'TURN_TOO_LARGE' | 'SAVES_TOO_LITTLE' | 'BREAKER_OPEN';
}

type Plan = ActivePlan | NoopPlan;

/**
 * The outcome of a plan that does nothing. Where there is something to fold and no way to do it, it is a
 * failure: who waits for room must learn why.
 */
export const noopState = ({ reason }: NoopPlan) =>
  reason === 'TURN_TOO_LARGE' ? 'FAILED_ERROR' : 'NOOP';

/**
 * Decides what a compaction folds: up to where the policy splits, whole turns or the beginning of the
 * newest. The newest turn stays unless the context overflowed and nothing else relieves it; the tail's tool
 * outputs come within their budget. An automatic run that cannot save enough is not begun. Empty context →
 * nothing to fold. Where no model may be asked, tool outputs are shortened, and where that is not enough
 * (`foldFromTokens`), turns are folded all the same.
 */
export function planCompaction(source: PlanSource): Plan {
  // One part is looked at for masks, sizes, the summariser's window and the saving: it is weighed once.
  return planWith({ ...source, weighed: new Map() });
}

type Weighing = PlanSource & WeighedContext;

function planWith(source: Weighing): Plan {
  const { context, policy } = source;
  const counting = countingIn(source);
  const masks = planMasks({
    turns: context.turns.filter(({ inContext }) => inContext),
    coveredThrough: context.coveredThrough,
    standing: context.history?.masks ?? [],
    budgetTokens: policy.toolOutputBudgetTokens,
    minimumGainTokens: policy.toolOutputMinimumGainTokens,
    counting,
    blobName: source.blobName,
  });
  if (source.isModelAllowed) return planFold(source, masks);
  const truncation = planTruncation(source, masks);
  const leftTokens =
    truncation.kind === 'truncate'
      ? truncation.afterTokens
      : estimateContextTokens(context, source, counting);
  if (leftTokens < (source.foldFromTokens ?? Infinity)) return truncation;
  const fold = planFold(readByCode(source), masks);
  return fold.kind === 'fold' ? fold : truncation;
}

function planFold(source: Weighing, masks: PlannedMask[]): Plan {
  const { context, policy, calibration } = source;
  const counting = countingIn(source);
  const masked = withMasks(context, masks);
  const point = foldPoint({
    context: masked,
    policy,
    trigger: source.trigger,
    counting,
    calibration,
  });
  if (point === undefined) return { kind: 'noop', reason: 'NOTHING_TO_FOLD' };
  const input = summariserInput({
    context,
    masks: storedMasks(masks),
    point,
    counting,
    calibration,
    windowTokens: source.summariserWindowTokens,
    strategy: source.strategy,
  });
  if (input === undefined) return { kind: 'noop', reason: 'TURN_TOO_LARGE' };
  const plan = foldPlanOf(context, input, masks);
  const { kept: turns, coveredThrough } = plan;
  const history = { snapshotText: '', masks: storedMasks(plan.masks) };
  if (!plan.isPartial && savesTooLittle(source, { ...context, history, coveredThrough, turns }))
    return { kind: 'noop', reason: 'SAVES_TOO_LITTLE' };
  return plan;
}

function foldPlanOf(
  context: ContextSource,
  input: SummariserInput,
  masks: PlannedMask[],
): FoldPlan {
  const { point: coveredThrough, isPartial, folded, chunks, repairs } = input;
  const kept = keptTurns(context.turns, coveredThrough);
  return {
    kind: 'fold',
    from: context.turns[0]?.seq ?? coveredThrough.seq,
    upTo: coveredThrough.seq,
    contentIndex: coveredThrough.contentIndex,
    coveredThrough,
    isPartial,
    folded,
    chunks,
    kept,
    tail: kept.map((turn) => slicedTurn(turn, { from: foldedContents(turn, coveredThrough) })),
    masks: masks.filter((mask) => isShown(mask, coveredThrough)),
    get contents() {
      return input.contents();
    },
    ...(repairs && { repairs }),
    hasPreviousSnapshot: (context.history?.snapshotText ?? '') !== '',
  };
}

function planTruncation(source: Weighing, masks: PlannedMask[]): Plan {
  const counting = countingIn(source);
  const beforeTokens = estimateContextTokens(source.context, source, counting);
  const afterTokens = estimateContextTokens(withMasks(source.context, masks), source, counting);
  if (afterTokens >= beforeTokens) return { kind: 'noop', reason: 'BREAKER_OPEN' };
  return { kind: 'truncate', masks, beforeTokens, afterTokens };
}

const withMasks = (context: ContextSource, masks: readonly PlannedMask[]): ContextSource => ({
  ...context,
  history: { snapshotText: context.history?.snapshotText ?? '', masks: storedMasks(masks) },
});

/** Code reads everything at once, whatever the window of a model. */
const readByCode = (source: Weighing): Weighing => ({
  ...source,
  summariserWindowTokens: Number.MAX_SAFE_INTEGER,
});
