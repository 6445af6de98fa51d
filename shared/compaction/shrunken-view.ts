import { ACKNOWLEDGEMENT, type ContextItem } from '../conversation/assemble-context.ts';
import type { CompactionPolicy } from './policy.ts';
import { policyConstants } from './policy-constants.ts';
import { estimateContentTokens, type TokenCounting } from './token-estimate.ts';
import { applyToolOutputBudget } from './tool-output-budget.ts';

/** What one request leaves out; nothing of it is stored. */
export interface Shrinkage {
  turnsLeftOut: number;
  outputsMasked: number;
}

export interface ShrunkenView {
  items: readonly ContextItem[];
  /** Tokens of the whole prompt after shrinking, system instruction and tools included. */
  tokens: number;
  /** Absent when the context was sent as it is. */
  shrinkage?: Shrinkage;
}

export interface ContextToShrink {
  items: readonly ContextItem[];
  /** Tokens of the whole context by the meter, overhead included. */
  tokens: number;
  overheadTokens: number;
  /** Factor from estimates to what the meter says. */
  calibration: number;
  policy: Pick<CompactionPolicy, 'hardThresholdTokens' | 'windowTokens' | 'excludesOverhead'>;
  counting: TokenCounting;
}

const markerText = (turns: number) =>
  `[${turns} earlier ${turns === 1 ? 'exchange is' : 'exchanges are'} left out of this request for lack of room. Nothing is lost: they are kept and will be summarised.]`;

const markerItems = (turns: number): ContextItem[] => [
  { kind: 'marker', content: { role: 'user', parts: [{ text: markerText(turns) }] } },
  { kind: 'ack', content: { role: 'model', parts: [{ text: ACKNOWLEDGEMENT }] } },
];

/** Tokens that a context may have before it is shrunk, overhead included. */
function limitTokens({ policy, overheadTokens }: ContextToShrink): number {
  const windowLimit = Math.floor(policyConstants.windowFraction.value * policy.windowTokens);
  const overhead = policy.excludesOverhead ? overheadTokens : 0;
  return Math.min(windowLimit, policy.hardThresholdTokens + overhead);
}

/** Shortens tool outputs, older ones first, until `freeTokens` (uncalibrated) are free or none is left. */
function maskOutputs(
  items: readonly ContextItem[],
  freeTokens: number,
  counting: TokenCounting,
): { items: ContextItem[]; freedTokens: number; masked: number } {
  const contents = items.map(({ content }) => content);
  const unbounded = applyToolOutputBudget({ contents, budgetTokens: Infinity, rule: counting });
  const result = applyToolOutputBudget({
    contents,
    budgetTokens: Math.max(0, unbounded.tokensBefore - freeTokens),
    rule: counting,
  });
  return {
    items: items.map((item, index) => ({
      ...item,
      content: result.contents[index] ?? item.content,
    })),
    freedTokens: result.tokensBefore - result.tokensAfter,
    masked: result.shortened,
  };
}

interface ExchangeSize {
  seq: number;
  tokens: number;
}

/** The turns of the view, oldest first, each with the tokens of all its contents. */
function exchangesOf(items: readonly ContextItem[], counting: TokenCounting): ExchangeSize[] {
  const sizes = new Map<number, number>();
  for (const { seq, content } of items)
    if (seq !== undefined)
      sizes.set(seq, (sizes.get(seq) ?? 0) + estimateContentTokens(content, counting));
  return [...sizes].map(([seq, tokens]) => ({ seq, tokens }));
}

/** How many of the oldest turns must go to free `freeTokens`; the newest always stays. */
function countToLeaveOut(exchanges: readonly ExchangeSize[], freeTokens: number) {
  let freedTokens = 0;
  let count = 0;
  for (const { tokens } of exchanges.slice(0, -1)) {
    if (freedTokens >= freeTokens) break;
    freedTokens += tokens;
    count += 1;
  }
  return { count, freedTokens };
}

function withoutOldest(
  items: readonly ContextItem[],
  leftOut: ReadonlySet<number>,
): readonly ContextItem[] {
  if (leftOut.size === 0) return items;
  const firstTurn = items.findIndex(({ seq }) => seq !== undefined);
  const kept = items.slice(firstTurn).filter(({ seq }) => seq === undefined || !leftOut.has(seq));
  return [...items.slice(0, firstTurn), ...markerItems(leftOut.size), ...kept];
}

/**
 * The view of one request when the context is over the hard threshold: tool outputs shortened first,
 * oldest first, then the oldest turns replaced by one marker, until it fits. Pins, snapshot and the
 * newest turn stay, so the result can still be too large. Pure and deterministic: what `/context` shows
 * is what is sent. Returns the same items when the context is within the threshold.
 */
export function shrinkContext(context: ContextToShrink): ShrunkenView {
  const { items, tokens, calibration, counting } = context;
  const excessTokens = (tokens - limitTokens(context)) / calibration;
  if (excessTokens <= 0) return { items, tokens };
  const masking = maskOutputs(items, excessTokens, counting);
  const markerTokens = markerItems(1).reduce(
    (sum, { content }) => sum + estimateContentTokens(content, counting),
    0,
  );
  const stillTokens = excessTokens - masking.freedTokens;
  const exchanges = exchangesOf(masking.items, counting);
  const leaving =
    stillTokens > 0
      ? countToLeaveOut(exchanges, stillTokens + markerTokens)
      : { count: 0, freedTokens: 0 };
  const leftOut = new Set(exchanges.slice(0, leaving.count).map(({ seq }) => seq));
  const freedTokens =
    masking.freedTokens + leaving.freedTokens - (leaving.count > 0 ? markerTokens : 0);
  if (leaving.count === 0 && masking.masked === 0) return { items, tokens };
  return {
    items: withoutOldest(masking.items, leftOut),
    tokens: Math.max(0, Math.ceil(tokens - calibration * freedTokens)),
    shrinkage: { turnsLeftOut: leaving.count, outputsMasked: masking.masked },
  };
}
