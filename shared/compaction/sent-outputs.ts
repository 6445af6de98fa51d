import type { ContextItem } from '#shared/conversation/context/assemble-context.ts';
import { hasFunctionResponse, type Content } from '#shared/conversation/documents/content.ts';
import type { TokenCounting } from '#shared/tokens/token-estimate.ts';
import type { CompactionPolicy } from './policy.ts';
import { applyToolOutputBudget } from './tool-output-budget.ts';
import { shortenOutput, blobNamedIn } from './shorten-output.ts';

/** What decides in which form tool outputs are sent: the same for the prompt, `/context` and the meter. */
export interface OutputForms {
  policy: Pick<CompactionPolicy, 'toolOutputBudgetTokens' | 'toolOutputMinimumGainTokens'>;
  counting: TokenCounting;
  /** The name under which `read_blob` finds an output again; absent: the model cannot read it back. */
  blobName?: ((text: string) => string) | undefined;
}

export interface SentOutputs {
  /** The same items where nothing is shortened. */
  items: readonly ContextItem[];
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
 * within `limitTokens` (default: none), as far as shorter forms go. Pure and deterministic.
 */
export function sentOutputs(
  items: readonly ContextItem[],
  forms: OutputForms,
  limitTokens = Infinity,
): SentOutputs {
  const { counting: rule, blobName } = forms;
  const whole = items.map(({ content }) => content);
  const capped = cappedContents(whole, forms);
  const outputTokens = outputTokensIn(capped, forms);
  const budgetTokens = Math.min(budgetOf(forms, outputTokens), Math.max(0, limitTokens));
  // What a compaction has shortened already goes on naming the whole.
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
