import { toModelResponse } from '#functions/adapters/gemini/gemini-response.ts';
import { estimatePromptTokens } from '#shared/tokens/token-estimate.ts';
import type {
  ModelChunk,
  ModelGenerator,
  ModelStreamer,
  TokenCounter,
} from '#shared/ports/ports.ts';

const call = { operation: 'stream', model: 'hostile', promptId: 'hostile' } as const;

const textEvent = (text: string) => ({ candidates: [{ content: { parts: [{ text }] } }] });

/** The end of an answer as a sane model sends it. */
const sane = {
  candidates: [{ content: { parts: [] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 10 },
};

/** What a side call, a title or a summary, is answered with. */
type SideAnswer = () => unknown;

/**
 * A model whose next answers are `queue`: each a list of events as its API would send them, read by the adapter, in
 * front of a few words and the end of an answer, unless it says its own. Once the queue is empty it is sane.
 */
export function hostileModel() {
  const queue: unknown[][] = [];
  let side: SideAnswer = () => undefined;
  const eventsFor = (role: string): unknown[] => {
    const own = role === 'chat' ? queue.shift() : undefined;
    const said = role === 'chat' ? undefined : side();
    const events = own ?? (said === undefined ? [] : [said]);
    return [textEvent('Fine: that is noted.'), ...events, ...(own ? [] : [sane])];
  };
  const streamer: ModelStreamer = {
    async *stream({ role }, signal) {
      for (const event of eventsFor(role)) {
        signal.throwIfAborted();
        yield await Promise.resolve(toModelResponse(call, event));
      }
    },
  };
  const generator: ModelGenerator & TokenCounter = {
    generate: async () => {
      const { parts, ...rest } = toModelResponse(call, side() ?? sane);
      const answer: ModelChunk = { parts, finishReason: 'STOP', ...rest };
      return Promise.resolve(answer);
    },
    countTokens: (prompt) => Promise.resolve(estimatePromptTokens(prompt, 'character-class')),
  };
  return {
    model: { ...streamer, ...generator },
    queue,
    /** From now on what is not an answer to a user is this. */
    answerAside: (answer: SideAnswer) => {
      side = answer;
    },
  };
}
