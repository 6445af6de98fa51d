import {
  ACKNOWLEDGEMENT,
  type ContextItem,
} from '#shared/conversation/context/assemble-context.ts';
import { hasFunctionResponse, type Content } from '#shared/models/content.ts';
import { estimateContentTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import { promptLimitTokens } from '#shared/models/known-models.ts';
import { shortenOutput, blobNamedIn } from './shorten-output.ts';
import { applyToolOutputBudget } from './tool-output-budget.ts';

/** What one request leaves out; `read_blob` finds it in the turns. */
export interface Shrinkage {
  turnsLeftOut: number;
  /** First and last of these turns; absent where there are none. */
  from?: number;
  upTo?: number;
  outputsMasked: number;
}

/** How a prompt stands to the context that it is made of. */
export interface SentView {
  /** Uncalibrated tokens of the tool outputs of all turns, in the forms in which they are sent. */
  outputTokens: number;
  /** More is left out than by the forms of tool outputs: the context is over the hard threshold. */
  isOverLimit: boolean;
  /** Absent when the context was sent as it is. */
  shrinkage?: Shrinkage | undefined;
}

export interface ShrunkenView extends SentView {
  items: readonly ContextItem[];
  /** Tokens of the whole prompt after shrinking, system instruction and tools included. */
  tokens: number;
}

/** How large a context may be sent: part of the policy of its conversation. */
export interface ContextLimits {
  readonly windowTokens: number;
  /** Above it turns are left out of a prompt. */
  readonly hardThresholdTokens: number;
  /** Whether thresholds apply to tokens without system instruction and tools. */
  readonly excludesOverhead: boolean;
}

/** What the tool outputs of a context may take together: part of the same policy. */
export interface OutputLimits {
  readonly toolOutputBudgetTokens: number;
  /** Outputs over the budget are shortened in steps of it. */
  readonly toolOutputMinimumGainTokens: number;
}

interface ContextToShrink {
  items: readonly ContextItem[];
  /** Tokens of the context by the meter: tool outputs in the forms in which they are sent, overhead included. */
  tokens: number;
  overheadTokens: number;
  /** Factor from estimates to what the meter says. */
  calibration: number;
  policy: ContextLimits;
  forms: OutputForms;
}

const markerText = (turns: number) =>
  `[${turns} earlier ${turns === 1 ? 'exchange is' : 'exchanges are'} left out of this request for lack of room. Nothing is lost: the conversation keeps them.]`;

const markerItems = (turns: number): ContextItem[] => [
  { kind: 'marker', content: { role: 'user', parts: [{ text: markerText(turns) }] } },
  { kind: 'ack', content: { role: 'model', parts: [{ text: ACKNOWLEDGEMENT }] } },
];

type Limited = Pick<ContextToShrink, 'policy' | 'overheadTokens'>;

/** Tokens that a context may have before it is shrunk, overhead included. */
function limitTokens({ policy, overheadTokens }: Limited): number {
  const windowLimit = promptLimitTokens(policy.windowTokens);
  const overhead = policy.excludesOverhead ? overheadTokens : 0;
  return Math.min(windowLimit, policy.hardThresholdTokens + overhead);
}

/** Whether a context is over the hard threshold: its next call leaves something out. */
export const isOverLimit = (context: Limited & { tokens: number }): boolean =>
  context.tokens > limitTokens(context);

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

/** The view of a context that is over the hard threshold by `excessTokens` (uncalibrated). */
function cutView(
  context: ContextToShrink,
  over: { sent: SentOutputs<ContextItem>; excessTokens: number },
): ShrunkenView {
  const { forms } = context;
  const { counting } = forms;
  const { items, shortened, tokens } = sentOutputs(
    context.items,
    forms,
    over.sent.tokens - over.excessTokens,
  );
  const freedTokens = over.sent.tokens - tokens;
  const markerTokens = markerItems(1).reduce(
    (sum, { content }) => sum + estimateContentTokens(content, counting),
    0,
  );
  const stillTokens = over.excessTokens - freedTokens;
  const exchanges = exchangesOf(items, counting);
  const leaving =
    stillTokens > 0
      ? countToLeaveOut(exchanges, stillTokens + markerTokens)
      : { count: 0, freedTokens: 0 };
  const leftOutSeqs = exchanges.slice(0, leaving.count).map(({ seq }) => seq);
  const leftOut = new Set(leftOutSeqs);
  const range = { from: leftOutSeqs[0], upTo: leftOutSeqs.at(-1) };
  const leftTokens = leaving.count > 0 ? leaving.freedTokens - markerTokens : 0;
  return {
    items: withoutOldest(items, leftOut),
    tokens: Math.max(
      0,
      Math.ceil(context.tokens - context.calibration * (freedTokens + leftTokens)),
    ),
    outputTokens: tokens,
    isOverLimit: leaving.count > 0 || freedTokens > 0,
    ...((leaving.count > 0 || shortened > 0) && {
      shrinkage: {
        turnsLeftOut: leaving.count,
        ...(leaving.count > 0 && range),
        outputsMasked: shortened,
      },
    }),
  };
}

/**
 * The view of one request: tool outputs in the forms in which they are sent, and where the context is over the hard
 * threshold shorter ones, oldest first; then the oldest turns replaced by one marker, until it fits. Pins, snapshot and
 * the newest turn stay, so the result can still be too large. Pure and deterministic: what `/context` shows
 * is what is sent. Returns the same items when the context is within threshold and budget.
 */
export function shrinkContext(context: ContextToShrink): ShrunkenView {
  const { items, tokens, calibration, forms } = context;
  const excessTokens = (tokens - limitTokens(context)) / calibration;
  const sent = sentOutputs(items, forms);
  if (excessTokens > 0) return cutView(context, { sent, excessTokens });
  return {
    items: sent.items,
    tokens,
    outputTokens: sent.tokens,
    isOverLimit: false,
    ...(sent.shortened > 0 && { shrinkage: { turnsLeftOut: 0, outputsMasked: sent.shortened } }),
  };
}

/** What decides in which form tool outputs are sent: the same for the prompt, `/context` and the meter. */
export interface OutputForms {
  policy: OutputLimits;
  counting: TokenCounting;
  /** The name under which `read_blob` finds an output again; absent: the model cannot read it back. */
  blobName?: ((text: string) => string) | undefined;
}

interface SentOutputs<Item> {
  /** The same items where nothing is shortened. */
  items: readonly Item[];
  /** Of all outputs as they are sent, uncalibrated. */
  tokens: number;
  shortened: number;
}

/** Forms in which every output stays as it is. */
export const wholeOutputs = ({ counting }: Pick<OutputForms, 'counting'>): OutputForms => ({
  policy: { toolOutputBudgetTokens: Infinity, toolOutputMinimumGainTokens: 0 },
  counting,
});

/**
 * The items as they are sent: each tool output within its cap, then, older ones first, all within their budget and
 * within `mostTokens` (default: none), as far as shorter forms go. Pure and deterministic.
 */
export function sentOutputs<Item extends { content: Content }>(
  items: readonly Item[],
  forms: OutputForms,
  mostTokens = Infinity,
): SentOutputs<Item> {
  const { counting: rule, blobName } = forms;
  const whole = items.map(({ content }) => content);
  const capped = cappedContents(whole, forms);
  const outputTokens = outputTokensIn(capped, forms);
  const budgetTokens = Math.min(budgetOf(forms, outputTokens), Math.max(0, mostTokens));
  // What is over its cap names the whole already.
  const named = blobName && { blobName: (text: string) => blobNamedIn(text) ?? blobName(text) };
  const { contents, tokensAfter: tokens } = applyToolOutputBudget({
    contents: capped,
    budgetTokens,
    rule,
    ...named,
  });
  const shortened = countChanged(whole, contents);
  if (shortened === 0) return { items, tokens, shortened };
  return {
    items: items.map((item, index) => ({ ...item, content: contents[index] ?? item.content })),
    tokens,
    shortened,
  };
}

/**
 * What the budget leaves to all outputs, which cost `outputTokens`. Over the budget it goes down in steps, so that
 * outputs are not shortened a little more with every call, which costs the cached prefix.
 */
function budgetOf({ policy }: OutputForms, outputTokens: number): number {
  const { toolOutputBudgetTokens, toolOutputMinimumGainTokens } = policy;
  const overTokens = outputTokens - toolOutputBudgetTokens;
  if (overTokens <= 0) return Infinity;
  const step = Math.max(1, toolOutputMinimumGainTokens);
  return Math.max(0, outputTokens - Math.ceil(overTokens / step) * step);
}

const outputTokensIn = (contents: readonly Content[], { counting: rule }: OutputForms): number =>
  applyToolOutputBudget({ contents, budgetTokens: Infinity, rule }).tokensBefore;

/** The contents with each output that is too long by itself shortened. */
function cappedContents(
  contents: readonly Content[],
  { blobName, counting }: OutputForms,
): readonly Content[] {
  if (!blobName) return contents;
  return contents.map((content) => {
    if (!hasFunctionResponse(content)) return content;
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
