import { toToolOutput } from '#shared/conversation/context/tool-calls.ts';
import type { Content, Part } from '#shared/models/content.ts';
import { once } from '#shared/lib/once.ts';
import type { TokenRule } from '#shared/tokens/text-weight.ts';
import { estimatePartTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import { toolOutputConstants } from './tool-output-constants.ts';
import {
  emptiedForm,
  longestForm,
  markerForm,
  type Fitted,
  type OutputToFit,
} from './shorten-output.ts';

export interface ToolOutputBudgetInput {
  contents: readonly Content[];
  /** For all tool outputs together. */
  budgetTokens: number;
  rule: TokenRule | TokenCounting;
  /** The name under which the model can read a text back (a hash of it); absent: it cannot. */
  blobName?: (text: string) => string;
}

interface ToolOutputBudgetResult {
  /** Contents that have not changed are the same objects. */
  contents: Content[];
  /** Tokens of all tool outputs, by `rule`. */
  tokensBefore: number;
  tokensAfter: number;
}

/**
 * Shortens tool outputs until all of them together cost at most `budgetTokens`, keeping the newest whole. What each
 * older output needs at least is set aside first: a marker with its length and its name; for the oldest, where markers
 * would take more than three quarters of the budget, one word. So the total is exceeded only where one word for each
 * output (or the output, if that is shorter) costs more: then that is the total. Returns the input when it is within
 * the budget. Pure.
 */
export function applyToolOutputBudget(input: ToolOutputBudgetInput): ToolOutputBudgetResult {
  const { contents, budgetTokens, rule, blobName } = input;
  const responses = responsesNewestFirst(input);
  const tokensBefore = total(responses);
  if (tokensBefore <= budgetTokens)
    return {
      contents: [...contents],
      tokensBefore,
      tokensAfter: tokensBefore,
    };

  const outputs = responses.flatMap((one) => outputToFit(one, { rule, blobName }));
  const fitted = fitAll(outputs, budgetTokens, rule);
  const shown = new Map(outputs.map(({ part }, index) => [part, fitted[index]?.part ?? part]));
  return {
    contents: replaceParts(contents, shown),
    tokensBefore,
    tokensAfter: total(fitted),
  };
}

/** A tool's response with the tokens that it takes. */
type SizedResponse = Pick<OutputToFit, 'part' | 'tokens'>;

function responsesNewestFirst({ contents, rule }: ToolOutputBudgetInput): SizedResponse[] {
  const responses = contents.flatMap(({ parts }) =>
    parts
      .filter(({ functionResponse }) => functionResponse !== undefined)
      .map((part) => ({ part, tokens: estimatePartTokens(part, rule) })),
  );
  return responses.toReversed();
}

/** A response with all that its forms are made of. */
function outputToFit(
  response: SizedResponse,
  { rule, blobName }: Pick<ToolOutputBudgetInput, 'rule' | 'blobName'>,
): OutputToFit[] {
  const output = toToolOutput(response.part);
  if (output === undefined) return [];
  const name = once(() => blobName?.(output.text));
  const whole = { ...response, output, name };
  return [{ ...whole, emptied: emptiedForm(whole, rule) }];
}

/** The outputs in the forms in which the newest say most, what the others need at least set aside. */
function fitAll(
  outputs: readonly OutputToFit[],
  budgetTokens: number,
  rule: ToolOutputBudgetInput['rule'],
): Fitted[] {
  const least = setAsideFor(outputs, budgetTokens, rule);
  let setAside = least.reduce((sum, tokens) => sum + tokens, 0);
  let used = 0;
  return outputs.map((output, index) => {
    setAside -= least[index] ?? 0;
    const fitted = longestForm(output, budgetTokens - used - setAside, rule);
    used += fitted.tokens;
    return fitted;
  });
}

/** Tokens that each output needs at least: one word, and, newest first, as much more as its marker takes, within their share. */
function setAsideFor(
  outputs: readonly OutputToFit[],
  budgetTokens: number,
  rule: ToolOutputBudgetInput['rule'],
): number[] {
  const least = outputs.map(({ emptied }) => emptied.tokens);
  let left =
    toolOutputConstants.toolOutputMarkersFraction * budgetTokens -
    least.reduce((sum, tokens) => sum + tokens, 0);
  for (const [index, output] of outputs.entries()) {
    const now = least[index] ?? 0;
    const { tokens } = markerForm(output, rule);
    if (tokens - now > left) break;
    left -= tokens - now;
    least[index] = tokens;
  }
  return least;
}

function replaceParts(contents: readonly Content[], replaced: ReadonlyMap<Part, Part>): Content[] {
  return contents.map((content) =>
    content.parts.some((part) => (replaced.get(part) ?? part) !== part)
      ? { ...content, parts: content.parts.map((part) => replaced.get(part) ?? part) }
      : content,
  );
}

const total = (items: readonly { tokens: number }[]): number =>
  items.reduce((sum, item) => sum + item.tokens, 0);
