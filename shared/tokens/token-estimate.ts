import { z } from 'zod';
import { type Content, type Part, partSchema } from '../conversation/documents/content.ts';
import type { ToolDeclaration } from '../ports/ports.ts';
import { type MediaFamily, mediaTokens } from './media-tokens.ts';
import { tokenConstants } from './token-constants.ts';

/**
 * `character-class` (default): weight by kind of character, everywhere the same, tool JSON included.
 * `gemini-cli`: the answers of that program before May 2026, for comparison and its profile.
 */
export type TokenRule = 'character-class' | 'gemini-cli';

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

/** Weights are kept in hundredths of a token, so that sums stay whole; the table covers all UTF-16 units. */
const WEIGHT_UNIT = 100;
const ASCII_END = 128;
const CODE_UNITS = 65_536;
/** Small enough that the sum of a block stays a 31-bit integer, which keeps the loop fast. */
const BLOCK_LENGTH = 1 << 20;

function characterClassWeight(code: number): number {
  const character = String.fromCharCode(code);
  if (/[a-z]/.test(character)) return tokenConstants.lowerCaseWeight.value;
  if (/[A-Z]/.test(character)) return tokenConstants.upperCaseWeight.value;
  if (character === ' ') return tokenConstants.blankWeight.value;
  if (/[0-9]/.test(character)) return tokenConstants.digitWeight.value;
  return tokenConstants.otherAsciiWeight.value;
}

/** Models are not shown declarations as JSON: most of its signs are not there. */
function declarationWeight(code: number): number {
  const isSign = '{}[]":,'.includes(String.fromCharCode(code));
  return isSign ? tokenConstants.declarationSignWeight.value : characterClassWeight(code);
}

/** Weight of every UTF-16 unit; half of a surrogate pair counts half a code point, so no half is free. */
function weightTable(asciiWeight: (code: number) => number, otherWeight: number): Uint8Array {
  const table = new Uint8Array(CODE_UNITS).fill(otherWeight);
  table.fill(otherWeight / 2, 0xd800, 0xe000);
  for (let code = 0; code < ASCII_END; code++) table[code] = asciiWeight(code);
  return table;
}

const weights: Readonly<Record<TokenRule, Uint8Array>> = {
  'character-class': weightTable(characterClassWeight, tokenConstants.otherCodePointWeight.value),
  'gemini-cli': weightTable(
    () => tokenConstants.peerAsciiWeight.value,
    tokenConstants.peerOtherWeight.value,
  ),
};

const declarationWeights: Readonly<Record<TokenRule, Uint8Array>> = {
  'character-class': weightTable(declarationWeight, tokenConstants.otherCodePointWeight.value),
  'gemini-cli': weights['gemini-cli'],
};

const textWeight = (text: string, rule: TokenRule): number => sumOf(text, weights[rule]);

/** Characters that are looked at together, and where their bytes stand meanwhile. */
const ASCII_BLOCK = 4_096;
const asciiBlock = new Uint8Array(ASCII_BLOCK);
const encoder = new TextEncoder();

/**
 * The weight of the blocks that are ASCII alone, from the start on, and where they end. Engines encode them, and read
 * bytes, several times as fast as they look up the characters of a string.
 */
function sumOfAscii(text: string, table: Uint8Array): { sum: number; end: number } {
  let sum = 0;
  let end = 0;
  while (end < text.length) {
    const block = text.slice(end, end + ASCII_BLOCK);
    const { read, written } = encoder.encodeInto(block, asciiBlock);
    if (read < block.length || written > read) break;
    for (let index = 0; index < written; index++) sum += table[asciiBlock[index] ?? 0] ?? 0;
    end += read;
  }
  return { sum, end };
}

function sumOf(text: string, table: Uint8Array): number {
  const ascii = sumOfAscii(text, table);
  let total = ascii.sum;
  for (let start = ascii.end; start < text.length; start += BLOCK_LENGTH) {
    const end = Math.min(text.length, start + BLOCK_LENGTH);
    let sum = 0;
    for (let index = start; index < end; index++)
      sum = (sum + (table[text.charCodeAt(index)] ?? 0)) | 0;
    total += sum;
  }
  return total;
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
    depth < tokenConstants.nestedPartDepth.value
      ? nestedParts(part.functionResponse)
      : { parts: [], rest: part.functionResponse };
  let sum = parts.reduce((total, nested) => total + partWeight(nested, counting, depth + 1), 0);
  if (counting.rule === 'gemini-cli') {
    const { name, response } = part.functionResponse;
    sum += (name.length + jsonOf(response).length) * tokenConstants.peerAsciiWeight.value;
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
  if (mimeType.startsWith('image/')) return tokenConstants.peerImageTokens.value * WEIGHT_UNIT;
  if (mimeType === 'application/pdf') return tokenConstants.peerPdfTokens.value * WEIGHT_UNIT;
  return jsonOf(part).length * tokenConstants.peerAsciiWeight.value;
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
    weight += sumOf(jsonOf(prompt.tools), declarationWeights[counting.rule]);
  for (const content of prompt.contents) weight += contentWeight(content, counting);
  return tokensOfWeight(weight, counting.rule);
}
