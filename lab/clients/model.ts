import { contentText, hasFunctionResponse } from '#shared/conversation/documents/content.ts';
import type { ModelStreamer } from '#shared/ports/ports.ts';
import { pause } from './observe.ts';

const COUNTING = /Count to (\d+)\.\s*$/u;
const NUMBER_MS = 100;

/**
 * Answers `Count to N.` with the numbers, one each 100 ms, so that a trial can be in the middle of an answer; hands
 * every other request on.
 */
export const countingModel = (model: ModelStreamer): ModelStreamer => ({
  stream: async function* (request, signal) {
    const last = request.contents.findLast(({ role }) => role === 'user');
    const isAsked = last !== undefined && !hasFunctionResponse(last);
    const highest = isAsked ? COUNTING.exec(contentText(last))?.[1] : undefined;
    if (highest === undefined) {
      yield* model.stream(request, signal);
      return;
    }
    for (let number = 1; number <= Number(highest); number += 1) {
      signal.throwIfAborted();
      yield { parts: [{ text: `${number} ` }] };
      await pause(NUMBER_MS);
    }
    const usage = { promptTokens: 10, cachedTokens: 0, outputTokens: 10, thoughtsTokens: 0 };
    yield { parts: [], finishReason: 'STOP', usage };
  },
});
