import type { Content, Part } from '#shared/conversation/documents/content.ts';
import { once } from '#shared/once.ts';
import { toolOutputConstants } from './tool-output-constants.ts';
import {
  emptiedForm,
  longestForm,
  markerForm,
  pointerForm,
  type Fitted,
  type FormOptions,
  type OutputToFit,
} from './tool-output-forms.ts';
import { estimatePartTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import type { TokenRule } from '#shared/tokens/text-weight.ts';
import { toToolOutput } from './tool-output-mask.ts';

export interface ToolOutputBudgetInput {
  contents: readonly Content[];
  /** For all tool outputs together. */
  budgetTokens: number;
  /** For one output; default 40,000. */
  capCharacters?: number;
  rule: TokenRule | TokenCounting;
  /** The name under which the caller will store this text (a hash of it); absent: it is not stored. */
  blobName?: (text: string) => string;
}

export interface Offload {
  /** As `blobName` gave it. */
  name: string;
  /** The full text: stored before the shortened contents are. */
  text: string;
}

export interface ToolOutputBudgetResult {
  /** Contents that have not changed are the same objects. */
  contents: Content[];
  /** Texts that shortened outputs name, each once, newest first. Empty without `blobName`. */
  offloads: Offload[];
  /** How many outputs were shortened. */
  shortened: number;
  /** Those parts of `contents` that say one word in the place of an output, and name no text. */
  emptied: ReadonlySet<Part>;
  /** Tokens of all tool outputs, by `rule`. */
  tokensBefore: number;
  tokensAfter: number;
}

const total = (items: readonly { tokens: number }[]): number =>
  items.reduce((sum, item) => sum + item.tokens, 0);

type Found = Pick<OutputToFit, 'part' | 'tokens'>;

function responsesNewestFirst({ contents, rule }: ToolOutputBudgetInput): Found[] {
  const found = contents.flatMap(({ parts }) =>
    parts
      .filter(({ functionResponse }) => functionResponse !== undefined)
      .map((part) => ({ part, tokens: estimatePartTokens(part, rule) })),
  );
  return found.toReversed();
}

/** A response with all that its forms are made of. */
function outputToFit(
  found: Found,
  { blobName, ...options }: FormOptions & Pick<ToolOutputBudgetInput, 'blobName'>,
): OutputToFit[] {
  const output = toToolOutput(found.part);
  if (output === undefined) return [];
  const name = once(() => blobName?.(output.text));
  const whole = { ...found, output, name };
  return [{ ...whole, emptied: emptiedForm(whole, options) }];
}

/**
 * Tokens that each output needs at least: one word, then, newest first, as much more as names its blob, then
 * as much more as tells its length, within what short forms may take of the budget.
 */
function setAsideFor(
  outputs: readonly OutputToFit[],
  budgetTokens: number,
  options: FormOptions,
): number[] {
  const least = outputs.map(({ emptied }) => emptied.tokens);
  let left =
    toolOutputConstants.toolOutputMarkersFraction.value * budgetTokens -
    least.reduce((sum, tokens) => sum + tokens, 0);
  for (const shortForm of [pointerForm, markerForm])
    for (const [index, output] of outputs.entries()) {
      const now = least[index] ?? 0;
      const { tokens } = shortForm(output, options);
      if (tokens - now > left) break;
      left -= tokens - now;
      least[index] = tokens;
    }
  return least;
}

function replaceParts(contents: readonly Content[], replaced: ReadonlyMap<Part, Part>): Content[] {
  return contents.map((content) =>
    content.parts.some((part) => replaced.has(part))
      ? { ...content, parts: content.parts.map((part) => replaced.get(part) ?? part) }
      : content,
  );
}

/** The outputs in the forms in which the newest say most, what the others need at least set aside. */
function fitAll(
  outputs: readonly OutputToFit[],
  budgetTokens: number,
  options: FormOptions,
): Fitted[] {
  const least = setAsideFor(outputs, budgetTokens, options);
  let setAside = least.reduce((sum, tokens) => sum + tokens, 0);
  let used = 0;
  return outputs.map((output, index) => {
    setAside -= least[index] ?? 0;
    const fitted = longestForm(output, budgetTokens - used - setAside, options);
    used += fitted.tokens;
    return fitted;
  });
}

const isNamed = ({ form }: Fitted) => form !== 'whole' && form !== 'emptied';

/**
 * Shortens tool outputs until all of them together cost at most `budgetTokens`, keeping the newest
 * whole. What each older output needs at least is set aside first: a marker with its length and its blob;
 * for the oldest, where markers would take more than three quarters of the budget, only the call that reads the
 * blob; where these would too, one word. So the total is exceeded only where one word for each output (or the
 * output, if that is shorter) costs more: then that is the total. Returns the input when it is within the
 * budget. Pure: the caller stores `offloads`.
 */
export function applyToolOutputBudget(input: ToolOutputBudgetInput): ToolOutputBudgetResult {
  const { contents, budgetTokens, rule, blobName } = input;
  const found = responsesNewestFirst(input);
  const tokensBefore = total(found);
  const unchanged = { offloads: [], shortened: 0, emptied: new Set<Part>(), tokensBefore };
  if (tokensBefore <= budgetTokens)
    return { ...unchanged, contents: [...contents], tokensAfter: tokensBefore };

  const capCharacters = input.capCharacters ?? toolOutputConstants.toolOutputCapCharacters.value;
  const outputs = found.flatMap((one) => outputToFit(one, { rule, capCharacters, blobName }));
  const fitted = fitAll(outputs, budgetTokens, { rule, capCharacters });
  const pairs = outputs.flatMap((one, index) => {
    const shown = fitted[index];
    return shown && shown.form !== 'whole' ? [{ one, shown }] : [];
  });
  const offloads = pairs
    .filter(({ shown }) => isNamed(shown))
    .flatMap(({ one: { name: nameOf, output } }) => {
      const name = nameOf();
      return name === undefined ? [] : [[name, { name, text: output.text }] as const];
    });
  return {
    contents: replaceParts(
      contents,
      new Map(pairs.map(({ one, shown }) => [one.part, shown.part])),
    ),
    offloads: [...new Map(offloads).values()],
    shortened: pairs.length,
    emptied: new Set(
      pairs.filter(({ shown }) => shown.form === 'emptied').map(({ shown }) => shown.part),
    ),
    tokensBefore,
    tokensAfter: total(fitted),
  };
}
