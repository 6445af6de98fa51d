import {
  assembleContext,
  masksBySeq,
  assemblePrompt,
  type ContextSource,
} from '#shared/conversation/context/assemble-context.ts';
import {
  hasFunctionCall,
  hasFunctionResponse,
  type Content,
} from '#shared/conversation/documents/content.ts';
import type { CoveredThrough, Trigger } from '#shared/conversation/documents/conversation.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { estimatePromptTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import { policyConstants } from './constants.ts';
import type { CompactionPolicy } from './policy.ts';
import { maskedTurn } from './shown-turns.ts';
import {
  tailLimits,
  largestScaleTokens,
  splitInside,
  pointBefore,
  findFoldPoint,
  sizedTurn,
  type SizedTurns,
  lazilySized,
} from './split-by-tail.ts';
import { adaptiveStart } from './split-by-topic.ts';

interface SplitSource {
  /** With the masks that the next generation will have. */
  context: ContextSource;
  policy: CompactionPolicy;
  trigger?: Trigger | undefined;
  counting: TokenCounting;
  calibration: number;
}

/**
 * Up to where a compaction folds; undefined: there is nothing to fold. After an overflow the tail may be
 * what fills the window: then all turns but the newest go, then what can go of that, and at last all of
 * it, or the conversation could never be written to again.
 */
export function foldPoint(source: SplitSource): CoveredThrough | undefined {
  const sizedContext = measured(source);
  const usual = usualPoint(sizedContext);
  if (source.trigger !== 'overflow') return usual;
  const { sizes } = sizedContext;
  const newest = sizes.at(-1);
  const points = [
    usual,
    pointBefore(sizes, sizes.length - 1),
    newest && splitInside(newest, limitsOf(sizedContext)),
    newest && { seq: newest.seq, contentIndex: 0 },
  ].filter((point) => point !== undefined);
  return points.find((point) => isRelievedBy(sizedContext, point)) ?? points.at(-1);
}

function usualPoint(source: Measured): CoveredThrough | undefined {
  const { context, policy, visible, sizes } = source;
  if (policy.preserveFraction !== undefined)
    return preserveFractionPoint(context, visible, policy.preserveFraction);
  const limits = limitsOf(source);
  return findFoldPoint(sizes, adaptiveStart(visible, sizes, limits), limits);
}

/** Whether the context leaves room for new messages once everything up to `point` is a snapshot. */
function isRelievedBy(source: Measured, point: CoveredThrough): boolean {
  const { context, policy } = source;
  const masks = context.history?.masks ?? [];
  const after: ContextSource = {
    ...context,
    history: { snapshotText: '', masks },
    coveredThrough: point,
    turns: keptTurns(context.turns, point),
  };
  const prompt = assemblePrompt(after, assembleContext(after));
  const tokens = Math.ceil(source.calibration * estimatePromptTokens(prompt, source.counting));
  const limit = policyConstants.overflowTargetFraction.value * policy.windowTokens;
  return tokens + policy.snapshotBudgetTokens < limit;
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

/** A context with the sizes of what it shows. */
interface Measured extends SplitSource {
  visible: ContextSource['turns'];
  /** Of `visible`, as shown. */
  sizes: SizedTurns;
  /** The same without masks: those say nothing about how long the conversation is. */
  unmasked: SizedTurns;
}

function measured(source: SplitSource): Measured {
  const { context, counting } = source;
  const visible = context.turns.filter(({ inContext }) => inContext);
  const masks = masksBySeq(context.history?.masks ?? []);
  const options = { covered: context.coveredThrough, counting };
  const unmasked = lazilySized(visible, (turn) => sizedTurn(turn, options));
  const sizes = lazilySized(visible, (turn, index) =>
    masks.has(turn.seq) ? sizedTurn(maskedTurn(turn, masks), options) : unmasked.at(index),
  );
  return { ...source, visible, sizes, unmasked };
}

/** How long the conversation is, or, where only that matters, that it is long enough. */
function scaleTokens({ policy, calibration, unmasked }: Measured): number {
  const enough = largestScaleTokens(policy, calibration);
  let tokens = 0;
  for (let index = unmasked.length - 1; index >= 0 && tokens < enough; index--)
    tokens += unmasked.at(index)?.tokens ?? 0;
  return tokens;
}

const limitsOf = (source: Measured) =>
  tailLimits(source.policy, {
    tokens: scaleTokens(source),
    calibration: source.calibration,
  });

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
  masked: ContextSource,
  visible: readonly Turn[],
  preserveFraction: number,
): CoveredThrough | undefined {
  // Pins never go through the summariser.
  const items = assembleContext({ ...masked, memory: undefined, pins: [] });
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
