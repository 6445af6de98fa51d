import { ACKNOWLEDGEMENT, type ContextItem } from '../conversation/assemble-context.ts';
import { hasFunctionResponse, type Content } from '../conversation/content.ts';
import type { CompactionPolicy } from './policy.ts';
import { policyConstants } from './policy-constants.ts';
import { shortenOutput } from './shorten-output.ts';
import { estimateContentTokens, type TokenCounting } from './token-estimate.ts';
import { applyToolOutputBudget } from './tool-output-budget.ts';
import { blobNamedIn } from './tool-output-mask.ts';

/** What one request leaves out; nothing of it is stored: `read_blob` finds it in the turns. */
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
  policy: Pick<
    CompactionPolicy,
    | 'hardThresholdTokens'
    | 'windowTokens'
    | 'excludesOverhead'
    | 'toolOutputBudgetTokens'
    | 'toolOutputMinimumGainTokens'
  >;
  counting: TokenCounting;
  /** The name under which `read_blob` finds an output again; absent: the model cannot read it back. */
  blobName?: ((text: string) => string) | undefined;
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

/**
 * What all tool outputs of a view may have: the budget for tool outputs, and less where `excessTokens`
 * (uncalibrated) are to be freed. Over the budget it goes down in steps, so that outputs are not
 * shortened a little more with every call, which costs the cached prefix.
 */
function outputBudget(
  { policy }: ContextToShrink,
  { outputTokens, excessTokens }: { outputTokens: number; excessTokens: number },
): number {
  const { toolOutputBudgetTokens, toolOutputMinimumGainTokens } = policy;
  const step = Math.max(1, toolOutputMinimumGainTokens);
  const overTokens = Math.max(0, outputTokens - toolOutputBudgetTokens);
  const freeTokens = Math.ceil(overTokens / step) * step;
  return Math.max(0, outputTokens - Math.max(freeTokens, excessTokens));
}

/** The contents with each output that is too long by itself shortened. */
function cappedContents({ items, blobName, counting }: ContextToShrink): Content[] {
  return items.map(({ content }) => {
    if (!blobName || !hasFunctionResponse(content)) return content;
    const parts = content.parts.map((part) => shortenOutput(part, { blobName, counting }));
    return parts.every((part, index) => part === content.parts[index])
      ? content
      : { ...content, parts };
  });
}

const countChanged = (before: readonly Content[], after: readonly Content[]): number =>
  before.reduce(
    (sum, { parts }, index) =>
      sum + parts.filter((part, at) => part !== after[index]?.parts[at]).length,
    0,
  );

/** Shortens tool outputs: each to its cap, then, older ones first, all to their budget and until `excessTokens` are free or none is left. */
function maskOutputs(
  context: ContextToShrink,
  excessTokens: number,
): { items: readonly ContextItem[]; freedTokens: number; masked: number } {
  const { items, counting: rule, blobName } = context;
  const whole = items.map(({ content }) => content);
  const contents = cappedContents(context);
  const tokensOf = (some: readonly Content[]) =>
    applyToolOutputBudget({ contents: some, budgetTokens: Infinity, rule }).tokensBefore;
  const wholeTokens = tokensOf(whole);
  const masked = countChanged(whole, contents);
  const outputTokens = masked === 0 ? wholeTokens : tokensOf(contents);
  const leftTokens = Math.max(0, excessTokens - (wholeTokens - outputTokens));
  const budgetTokens = outputBudget(context, { outputTokens, excessTokens: leftTokens });
  if (masked === 0 && budgetTokens >= outputTokens) return { items, freedTokens: 0, masked: 0 };
  // What a compaction has shortened already goes on naming the whole.
  const named = blobName && { blobName: (text: string) => blobNamedIn(text) ?? blobName(text) };
  const result = applyToolOutputBudget({ contents, budgetTokens, rule, ...named });
  return {
    items: items.map((item, index) => ({
      ...item,
      content: result.contents[index] ?? item.content,
    })),
    freedTokens: wholeTokens - result.tokensAfter,
    masked: countChanged(whole, result.contents),
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
 * The view of one request: tool outputs within their budget, oldest shortened first, and where the context is
 * over the hard threshold further than that; then the oldest turns replaced by one marker, until it fits. Pins, snapshot and the
 * newest turn stay, so the result can still be too large. Pure and deterministic: what `/context` shows
 * is what is sent. Returns the same items when the context is within threshold and budget.
 */
export function shrinkContext(context: ContextToShrink): ShrunkenView {
  const { items, tokens, calibration, counting } = context;
  const excessTokens = (tokens - limitTokens(context)) / calibration;
  const masking = maskOutputs(context, Math.max(0, excessTokens));
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
