import { hash } from 'node:crypto';
import { contentUnits, overheadUnits, toTokens } from '../answers/token-rule.ts';
import type { ModelRequestBody } from './request.ts';

const minimumTokens = 4_096;
const mostPrefixesPerModel = 50_000;

interface Prefix {
  hash: string;
  tokens: number;
}

/** What is computed once for a request, because its contents may be megabytes. */
export interface Measure {
  promptTokens: number;
  /** SHA-256 of the contents as JSON. */
  contentsSha256: string;
  /** The prefixes that end with a content, shortest first; the last is the whole prompt. */
  prefixes: Prefix[];
}

/** Tokens and hashes of a request: system instruction and tools, then content after content. */
export function measure(body: ModelRequestBody): Measure {
  const jsons = (body.contents ?? []).map((content) => JSON.stringify(content));
  let units = overheadUnits(body);
  let digest = hash('sha256', JSON.stringify([body.systemInstruction, body.tools]));
  const prefixes = (body.contents ?? []).map((content, index) => {
    units += contentUnits(content);
    digest = hash('sha256', `${digest}${jsons[index]}`);
    return { hash: digest, tokens: toTokens(units) };
  });
  const contentsSha256 = hash('sha256', `[${jsons.join(',')}]`);
  return { promptTokens: toTokens(units), contentsSha256, prefixes };
}

/**
 * Implicit caching: a prefix of whole contents, byte-identical with an earlier request of the same model
 * and at least 4,096 tokens long, counts as cached. Nothing expires but by number.
 */
export class PrefixCache {
  readonly #known = new Map<string, Set<string>>();

  /** Tokens of the longest known prefix, 0 without one; the prefixes are then known. */
  use(model: string, prefixes: readonly Prefix[]): number {
    const known = this.#known.get(model) ?? new Set<string>();
    this.#known.set(model, known);
    const long = prefixes.filter((prefix) => prefix.tokens >= minimumTokens);
    const cached = long.findLast((prefix) => known.has(prefix.hash))?.tokens ?? 0;
    for (const prefix of long) known.add(prefix.hash);
    for (const oldest of known) {
      if (known.size <= mostPrefixesPerModel) break;
      known.delete(oldest);
    }
    return cached;
  }
}
