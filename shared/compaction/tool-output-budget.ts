import type { Content, Part } from '../conversation/content.ts';
import { toolOutputConstants } from './tool-output-constants.ts';
import { estimatePartTokens } from './token-estimate.ts';
import type { TokenCounting, TokenRule } from './token-estimate.ts';
import { maskedText, toolOutputOf, withOutput } from './tool-output-mask.ts';
import type { ToolOutput } from './tool-output-mask.ts';

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
  /** As `blobName` gave it; '' without one. */
  name: string;
  /** The full text: stored before the shortened contents are. */
  text: string;
}

export interface ToolOutputBudgetResult {
  /** Contents that have not changed are the same objects. */
  contents: Content[];
  /** Only outputs that were shortened, each name once, newest first. */
  offloads: Offload[];
  /** Tokens of all tool outputs, by `rule`. */
  tokensBefore: number;
  tokensAfter: number;
}

interface Candidate {
  part: Part;
  tokens: number;
  output: ToolOutput;
}

type NamedCandidate = Candidate & { name: string | undefined };

interface Masked {
  part: Part;
  tokens: number;
  offload?: Offload;
}

/** Rounds in which caps are lowered until the total fits its budget. */
const FITTING_ROUNDS = 8;

function candidatesNewestFirst(
  contents: readonly Content[],
  rule: ToolOutputBudgetInput['rule'],
): Candidate[] {
  const found: Candidate[] = [];
  for (const content of contents)
    for (const part of content.parts) {
      const output = toolOutputOf(part);
      if (output !== undefined)
        found.push({ part, output, tokens: estimatePartTokens(part, rule) });
    }
  return found.toReversed();
}

function maskTo(
  candidate: NamedCandidate,
  characters: number,
  input: ToolOutputBudgetInput,
): Masked {
  const { part, output, tokens, name } = candidate;
  const masked = withOutput(part, output, maskedText(output.text, { characters, name }));
  const maskedTokens = estimatePartTokens(masked, input.rule);
  // Words around a short output can cost more than the output: then it stays as it is.
  if (maskedTokens >= tokens) return { part, tokens };
  return { part: masked, tokens: maskedTokens, offload: { name: name ?? '', text: output.text } };
}

/** The longest view within `availableTokens`; the smallest possible one if nothing fits. */
function fit(
  candidate: NamedCandidate,
  availableTokens: number,
  input: ToolOutputBudgetInput,
): Masked {
  if (availableTokens <= 0) return maskTo(candidate, 0, input);
  let characters = Math.min(
    input.capCharacters ?? toolOutputConstants.toolOutputCapCharacters.value,
    candidate.output.text.length - 1,
  );
  for (let round = 0; round < FITTING_ROUNDS; round++) {
    if (characters < toolOutputConstants.toolOutputCutMinimumCharacters.value) break;
    const masked = maskTo(candidate, characters, input);
    if (masked.tokens <= availableTokens) return masked;
    characters = Math.floor(characters * Math.min(0.8, (0.95 * availableTokens) / masked.tokens));
  }
  return maskTo(candidate, 0, input);
}

function replaceParts(contents: readonly Content[], replaced: ReadonlyMap<Part, Part>): Content[] {
  return contents.map((content) =>
    content.parts.some((part) => replaced.has(part))
      ? { ...content, parts: content.parts.map((part) => replaced.get(part) ?? part) }
      : content,
  );
}

function total(items: readonly { tokens: number }[]): number {
  return items.reduce((sum, item) => sum + item.tokens, 0);
}

/**
 * Shortens tool outputs until all of them together cost at most `budgetTokens`, keeping the newest
 * whole. What each older output needs at least (a marker that names its blob) is set aside first, so
 * the total holds; only when the markers alone exceed the budget is it exceeded, by no more than that.
 * Returns the input when it is within the budget. Pure: the caller stores `offloads`.
 */
export function applyToolOutputBudget(input: ToolOutputBudgetInput): ToolOutputBudgetResult {
  const outputs = candidatesNewestFirst(input.contents, input.rule);
  const tokensBefore = total(outputs);
  if (tokensBefore <= input.budgetTokens)
    return { contents: [...input.contents], offloads: [], tokensBefore, tokensAfter: tokensBefore };

  const candidates = outputs.map((output) => ({
    ...output,
    name: input.blobName?.(output.output.text),
  }));
  const smallest = candidates.map((candidate) => maskTo(candidate, 0, input));
  let setAside = total(smallest);
  let used = 0;
  const replaced = new Map<Part, Part>();
  const offloads = new Map<string, Offload>();
  for (const [index, candidate] of candidates.entries()) {
    setAside -= smallest[index]?.tokens ?? 0;
    const available = input.budgetTokens - used - setAside;
    const fitted: Masked =
      candidate.tokens <= available ? candidate : fit(candidate, available, input);
    used += fitted.tokens;
    if (fitted.offload === undefined) continue;
    replaced.set(candidate.part, fitted.part);
    offloads.set(fitted.offload.name, fitted.offload);
  }
  return {
    contents: replaceParts(input.contents, replaced),
    offloads: [...offloads.values()],
    tokensBefore,
    tokensAfter: used,
  };
}
