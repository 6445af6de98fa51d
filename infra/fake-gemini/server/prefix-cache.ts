import { hash } from 'node:crypto';
import { contentUnits, overheadUnits, toTokens } from '../answers/token-rule.ts';
import type { ModelRequestBody } from './request.ts';

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
