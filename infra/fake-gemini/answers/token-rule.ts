import type {
  ModelRequestBody,
  RequestContent,
  RequestPart,
} from '#infra/fake-gemini/server/request.ts';
import { hash } from 'node:crypto';

/*
 * The one token rule of the fake Gemini, used for usageMetadata, countTokens, the window and the length
 * of every answer:
 *   - text: 0.25 token per ASCII code point, 1.3 per any other; thoughts count as text;
 *   - function calls, function responses, tool declarations and response schemas: their JSON as text;
 *   - media, by kind and never by size: audio 32, video 263, any other 258;
 *   - a request is the sum of all of it, rounded up once at the end.
 * Deliberately not the product's estimator: a meter that is checked against itself is never wrong.
 */

/** Counts are kept in twentieths of a token, in which 0.25 and 1.3 are whole numbers: sums are exact. */
const unitsPerToken = 20;
const asciiUnits = 5;
const otherUnits = 26;

/** Units of a text. A surrogate pair is one code point. */
function textUnits(text: string): number {
  let units = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 128) units += asciiUnits;
    else if (code < 0xdc00 || code > 0xdfff) units += otherUnits;
  }
  return units;
}

export const toTokens = (units: number): number => Math.ceil(units / unitsPerToken);

/** Tokens of a text alone, rounded up. */
export const textTokens = (text: string): number => toTokens(textUnits(text));

const jsonUnits = (value: unknown): number =>
  value === undefined ? 0 : textUnits(JSON.stringify(value));

function mediaUnits(media: { mimeType?: string | undefined } | undefined): number {
  if (media === undefined) return 0;
  const [kind] = media.mimeType?.split('/') ?? [];
  const tokens = kind === 'audio' ? 32 : kind === 'video' ? 263 : 258;
  return tokens * unitsPerToken;
}

const partUnits = (part: RequestPart): number =>
  textUnits(part.text ?? '') +
  jsonUnits(part.functionCall) +
  jsonUnits(part.functionResponse) +
  mediaUnits(part.inlineData) +
  mediaUnits(part.fileData);

/** Units of the parts of one content; role and unknown fields are free. */
export const contentUnits = (content: RequestContent | undefined): number =>
  (content?.parts ?? []).reduce((sum, part) => sum + partUnits(part), 0);

/** Units of what stands before the contents: system instruction, tools and response schema. */
export const overheadUnits = (request: ModelRequestBody): number =>
  contentUnits(request.systemInstruction) +
  jsonUnits(request.tools) +
  jsonUnits(request.generationConfig?.responseJsonSchema);

/** The longest start of `text` that has at most `tokens` tokens; never half a surrogate pair. */
export function cutToTokens(text: string, tokens: number): string {
  const budget = tokens * unitsPerToken;
  let units = 0;
  let end = 0;
  for (const point of text) {
    units += point.charCodeAt(0) < 128 ? asciiUnits : otherUnits;
    if (units > budget) break;
    end += point.length;
  }
  return text.slice(0, end);
}

const minimumTokens = 4_096;

interface Prefix {
  hash: string;
  tokens: number;
}

/** What is computed once for a request, because its contents may be megabytes. */
export interface Measure {
  promptTokens: number;
  /** The prefixes that end with a content, shortest first; the last is the whole prompt. */
  prefixes: Prefix[];
}

/** Tokens and hashes of a request: system instruction and tools, then content after content. */
export function measure(body: ModelRequestBody): Measure {
  let units = overheadUnits(body);
  let digest = hash('sha256', JSON.stringify([body.systemInstruction, body.tools]));
  const prefixes = (body.contents ?? []).map((content) => {
    units += contentUnits(content);
    digest = hash('sha256', `${digest}${JSON.stringify(content)}`);
    return { hash: digest, tokens: toTokens(units) };
  });
  return { promptTokens: toTokens(units), prefixes };
}

/**
 * Implicit caching: a prefix of whole contents, byte-identical with an earlier request of the same model
 * and at least 4,096 tokens long, counts as cached. Nothing expires.
 */
export class PrefixCache {
  readonly #seen = new Set<string>();

  /** Tokens of the longest prefix that was seen before, 0 without one; all are seen from now on. */
  use(model: string, prefixes: readonly Prefix[]): number {
    const long = prefixes.filter(({ tokens }) => tokens >= minimumTokens);
    const keys = long.map((prefix) => `${model} ${prefix.hash}`);
    const cached = long[keys.findLastIndex((key) => this.#seen.has(key))]?.tokens ?? 0;
    for (const key of keys) this.#seen.add(key);
    return cached;
  }
}
