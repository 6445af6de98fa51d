import { assembleContext } from '#shared/conversation/context/assemble-context.ts';
import { hasFunctionCall, hasFunctionResponse, type Content } from '#shared/models/content.ts';
import type { CoveredThrough } from '#shared/conversation/documents/conversation.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { policyConstants } from './constants.ts';
import { estimateContextTokens, type SizedContext } from './context-tokens.ts';
import { sentOutputs } from '#shared/conversation/context/sent-view.ts';
import { turnsAsSent } from './shown-turns.ts';
import {
  foldPointOfTail,
  pointBefore,
  sizedTurn,
  splitInside,
  tailLimits,
} from './split-by-tail.ts';
import { adaptiveStart } from './split-by-topic.ts';

/**
 * Up to where a compaction folds; undefined: there is nothing to fold. After an overflow the tail may be
 * what fills the window: then all turns but the newest go, then what can go of that, and at last all of
 * it, or the conversation could never be written to again.
 */
export function foldPoint(source: SizedContext): CoveredThrough | undefined {
  const { context, policy, calibration, forms } = source;
  const visible = context.turns.filter(({ inContext }) => inContext);
  const sizes = turnsAsSent(visible, context.coveredThrough, forms).map((turn) =>
    sizedTurn(turn, { covered: context.coveredThrough, counting: forms.counting }),
  );
  const tokens = sizes.reduce((sum, turn) => sum + turn.tokens, 0);
  const limits = tailLimits(policy, { tokens, calibration });
  const usual =
    policy.preserveFraction === undefined
      ? foldPointOfTail(sizes, adaptiveStart(visible, sizes, limits), limits)
      : preserveFractionPoint(source, visible, policy.preserveFraction);
  if (source.trigger !== 'overflow') return usual;
  const newest = sizes.at(-1);
  const points = [
    usual,
    pointBefore(sizes, sizes.length - 1),
    newest && splitInside(newest, limits),
    newest && { seq: newest.seq, contentIndex: 0 },
  ].filter((point) => point !== undefined);
  return points.find((point) => isRelievedBy(source, point)) ?? points.at(-1);
}

/** Whether the context leaves room for new messages once everything up to `point` is a snapshot. */
function isRelievedBy(source: SizedContext, point: CoveredThrough): boolean {
  const { context, policy } = source;
  const turns = keptTurns(context.turns, point);
  const after = { ...context, history: undefined, coveredThrough: point, turns };
  const limit = policyConstants.overflowTargetFraction * policy.windowTokens;
  return estimateContextTokens(after, source) + policy.snapshotBudgetTokens < limit;
}

/** The turns that stay once everything up to `point` is folded, one that is folded inside among them. In order, as given. */
export const keptTurns = <T extends { seq: number }>(
  turns: readonly T[],
  point: CoveredThrough,
): T[] => {
  const isFolded = ({ seq }: T): boolean =>
    seq < point.seq || (seq === point.seq && point.contentIndex === 0);
  // From the end: the tail is short, whatever the conversation is.
  return turns.slice(turns.findLastIndex(isFolded) + 1);
};

/**
 * Gemini CLI's split point: how many of the oldest contents to fold. Weight is the length of the JSON.
 * The split lies before a user content without function response: the first one with at least
 * `fraction` of the weight before it. Where there is none: after everything if the last content is a
 * model content without function call, else before the last such user content (0 = fold nothing).
 * `fraction` = 1 − preserveFraction; throws RangeError outside (0, 1). Empty → 0. Linear.
 */
export function findSplitPoint(contents: readonly Content[], fraction: number): number {
  if (!(fraction > 0 && fraction < 1))
    throw new RangeError(`fraction to fold must lie between 0 and 1, is ${fraction}`);

  const lengths = contents.map((content) => JSON.stringify(content).length);
  const target = fraction * lengths.reduce((sum, length) => sum + length, 0);
  let before = 0;
  let lastCandidate = 0;
  for (const [index, content] of contents.entries()) {
    if (content.role === 'user' && !hasFunctionResponse(content)) {
      if (before >= target) return index;
      lastCandidate = index;
    }
    before += lengths[index] ?? 0;
  }

  const last = contents.at(-1);
  if (last?.role === 'model' && !hasFunctionCall(last)) return contents.length;
  return lastCandidate;
}

/**
 * Where Gemini CLI's algorithm ends the fold, in whole turns: a turn that the split falls into stays whole, and so does
 * the newest. Undefined when it folds nothing.
 */
function preserveFractionPoint(
  { context, forms }: SizedContext,
  visible: readonly Turn[],
  preserveFraction: number,
): CoveredThrough | undefined {
  // Pins never go through the summariser.
  const { items } = sentOutputs(
    assembleContext({ ...context, memory: undefined, pins: [] }),
    forms,
  );
  const split = findSplitPoint(
    items.map(({ content }) => content),
    1 - preserveFraction,
  );
  const newestSeq = visible.at(-1)?.seq ?? 0;
  const firstBehind = items[split];
  // What stands before the turns belongs to none.
  const keptFrom = firstBehind ? Math.min(firstBehind.seq ?? 0, newestSeq) : newestSeq;
  // An erased turn at the very front is no reason to call the model.
  const isAnyFolded = items.some(({ seq }) => seq !== undefined && seq < keptFrom);
  return isAnyFolded ? { seq: keptFrom - 1, contentIndex: 0 } : undefined;
}
