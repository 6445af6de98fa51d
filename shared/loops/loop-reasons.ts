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

/** Why an answer ended that Recap stopped, among the reasons that models give: their text said the same again and again, */
export const LOOP_OF_TEXT = 'LOOP_OF_TEXT';
/** or they made the same calls again and again. */
export const LOOP_OF_CALLS = 'LOOP_OF_CALLS';

/** What of an answer repeated itself. */
type LoopKind = 'text' | 'calls';

/** What the reason to stop that is stored with a turn says of a loop; undefined: there was none. */
export function loopKind(finishReason: string | undefined): LoopKind | undefined {
  if (finishReason === LOOP_OF_TEXT) return 'text';
  return finishReason === LOOP_OF_CALLS ? 'calls' : undefined;
}
