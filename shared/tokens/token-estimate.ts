import { type Content, type Part, partSchema } from '#shared/models/content.ts';
import type { ToolDeclaration } from '../ports/ports.ts';
import { type MediaFamily, mediaTokens } from './media-tokens.ts';
import { declarationsWeight, textWeight, WEIGHT_UNIT, type TokenRule } from './text-weight.ts';
import { tokenConstants } from './token-constants.ts';
import { z } from 'zod';

export interface TokenCounting {
  rule: TokenRule;
  /** Whose prices media have; default `gemini-2.5`. */
  mediaFamily?: MediaFamily;
  /**
   * Weights of calls and responses by part, for one piece of work that looks at the same parts several times:
   * they are weighed as JSON, which has to be made. The parts must not change meanwhile.
   */
  weighed?: Map<Part, number>;
}

export interface PromptToEstimate {
  systemInstruction?: string;
  tools?: readonly ToolDeclaration[];
  contents: readonly Content[];
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value) ?? '';
}

const nestedPartsSchema = z.array(partSchema);

/** Parts that a function response carries beside its JSON (images, files), if they are parts. */
function nestedParts(response: object): { parts: readonly Part[]; rest: object } {
  if (!('parts' in response)) return { parts: [], rest: response };
  const { parts, ...rest } = response;
  const read = nestedPartsSchema.safeParse(parts);
  return read.success ? { parts: read.data, rest } : { parts: [], rest: response };
}

function responseWeight(
  part: Required<Pick<Part, 'functionResponse'>>,
  counting: TokenCounting,
  depth: number,
): number {
  const { parts, rest } =
    depth < tokenConstants.nestedPartDepth
      ? nestedParts(part.functionResponse)
      : { parts: [], rest: part.functionResponse };
  let sum = parts.reduce((total, nested) => total + partWeight(nested, counting, depth + 1), 0);
  if (counting.rule === 'gemini-cli') {
    const { name, response } = part.functionResponse;
    sum += (name.length + jsonOf(response).length) * tokenConstants.peerAsciiWeight;
  } else {
    sum += textWeight(jsonOf(rest), counting.rule);
  }
  return sum;
}

/** Signatures are opaque to the meter: the server does not count them as text. */
function withoutSignature(part: Part): Part {
  if (part.thoughtSignature === undefined) return part;
  const { thoughtSignature: _, ...rest } = part;
  return rest;
}

function peerPartWeight(part: Part, counting: TokenCounting, depth: number): number {
  if (part.text !== undefined) return textWeight(part.text, counting.rule);
  if (part.functionResponse !== undefined)
    return responseWeight({ functionResponse: part.functionResponse }, counting, depth);
  const mimeType = part.inlineData?.mimeType ?? part.fileData?.mimeType ?? '';
  if (mimeType.startsWith('image/')) return tokenConstants.peerImageTokens * WEIGHT_UNIT;
  if (mimeType === 'application/pdf') return tokenConstants.peerPdfTokens * WEIGHT_UNIT;
  return jsonOf(part).length * tokenConstants.peerAsciiWeight;
}

function partWeight(part: Part, counting: TokenCounting, depth: number): number {
  const { rule } = counting;
  if (rule === 'gemini-cli') return peerPartWeight(part, counting, depth);
  const { text, functionCall, functionResponse, inlineData, fileData } = part;
  let sum = 0;
  if (text !== undefined) sum += textWeight(text, rule);
  if (functionCall !== undefined) sum += textWeight(jsonOf(functionCall), rule);
  if (functionResponse !== undefined) sum += responseWeight({ functionResponse }, counting, depth);
  const file = inlineData ?? fileData;
  if (file !== undefined) {
    const data = inlineData?.data ?? '';
    const family = counting.mediaFamily ?? 'gemini-2.5';
    sum +=
      mediaTokens({ mimeType: file.mimeType, data, family, length: part.upload }) * WEIGHT_UNIT;
  }
  const isKnown = text ?? functionCall ?? functionResponse ?? file;
  return isKnown === undefined ? textWeight(jsonOf(withoutSignature(part)), rule) : sum;
}

/** As `partWeight`, each call and response once. */
function wholePartWeight(part: Part, counting: TokenCounting): number {
  const { weighed } = counting;
  if (weighed === undefined || (part.functionCall ?? part.functionResponse) === undefined)
    return partWeight(part, counting, 0);
  const known = weighed.get(part);
  if (known !== undefined) return known;
  const weight = partWeight(part, counting, 0);
  weighed.set(part, weight);
  return weight;
}

/**
 * What a content weighs before it is rounded to tokens: the weights of several contents together make the tokens of
 * all (`tokensOfWeight`), each content once.
 */
export function contentWeight(content: Content, counting: TokenCounting): number {
  let sum = 0;
  for (const part of content.parts) sum += wholePartWeight(part, counting);
  return sum;
}

function countingOf(rule: TokenRule | TokenCounting): TokenCounting {
  return typeof rule === 'string' ? { rule } : rule;
}

/** `gemini-cli` floors the sum as that program does; our own rule rounds up, so nothing is free. */
export function tokensOfWeight(weight: number, rule: TokenRule): number {
  const tokens = weight / WEIGHT_UNIT;
  return rule === 'gemini-cli' ? Math.floor(tokens) : Math.ceil(tokens);
}

/**
 * Tokens that `text` is likely to cost, a whole number. A heuristic without cliff: cost is linear in
 * the text. Wrong by more than a fifth on long runs of one character, on encoded bytes (base64 costs about
 * twice as much) and on scripts that share few tokens with Chinese, Japanese and Korean.
 */
export function estimateTextTokens(text: string, rule: TokenRule | TokenCounting): number {
  const counting = countingOf(rule);
  return tokensOfWeight(textWeight(text, counting.rule), counting.rule);
}

/** Tokens of one part; see `estimateContentTokens`. */
export function estimatePartTokens(part: Part, rule: TokenRule | TokenCounting): number {
  const counting = countingOf(rule);
  return tokensOfWeight(wholePartWeight(part, counting), counting.rule);
}

/**
 * Tokens of a content: text by the rule, calls, responses and unknown parts as JSON by the same rule,
 * media by kind (`mediaTokens`). Signatures are not counted. Empty → 0.
 */
export function estimateContentTokens(content: Content, rule: TokenRule | TokenCounting): number {
  const counting = countingOf(rule);
  return tokensOfWeight(contentWeight(content, counting), counting.rule);
}

/**
 * Tokens of all that a call would send: system instruction, tool declarations and contents. Declarations
 * as the Gemini API counts them from Gemini 2.5 on; Vertex AI and Gemini 2.0 count little more than their
 * names and descriptions, so there they come out too high.
 */
export function estimatePromptTokens(
  prompt: PromptToEstimate,
  rule: TokenRule | TokenCounting,
): number {
  const counting = countingOf(rule);
  let weight = textWeight(prompt.systemInstruction ?? '', counting.rule);
  if (prompt.tools !== undefined && prompt.tools.length > 0)
    weight += declarationsWeight(jsonOf(prompt.tools), counting.rule);
  for (const content of prompt.contents) weight += contentWeight(content, counting);
  return tokensOfWeight(weight, counting.rule);
}
