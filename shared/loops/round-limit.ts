import type { Content } from '../conversation/documents/content.ts';

const LIMIT_KEY = 'roundLimit';

/** The response of a call beyond the rounds that one answer may have: what the model reads, and a mark. */
export const roundLimitResponse = (limit: number): Record<string, unknown> => ({
  error: `The limit of ${limit} rounds of tool calls in one answer is reached: this call was not run, and no other will be. Answer with what is known, and say what is missing.`,
  [LIMIT_KEY]: limit,
});

/**
 * How many rounds a turn was allowed, if it asked for more and was answered with what there was; else undefined. Read
 * from its responses, so that every replay says the same whatever the limit is today.
 */
export function findRoundLimit(contents: readonly Content[]): number | undefined {
  for (const { parts } of contents)
    for (const { functionResponse } of parts) {
      const limit = functionResponse?.response?.[LIMIT_KEY];
      if (typeof limit === 'number' && functionResponse?.response?.['error'] !== undefined)
        return limit;
    }
  return undefined;
}
