import type { ModelChunk, ModelRequest, ModelStreamer } from '#shared/ports/ports.ts';

/** One call's behaviour: chunks in order, then the error if there is one. */
export interface ScriptedAnswer {
  chunks?: readonly ModelChunk[];
  error?: Error;
  /** Awaited before the first chunk. */
  gate?: Promise<void>;
}

export const textAnswer = (
  text: string,
  usage = { promptTokens: 100, cachedTokens: 0, outputTokens: 10, thoughtsTokens: 0 },
): ScriptedAnswer => ({
  chunks: [{ parts: [{ text }] }, { parts: [], finishReason: 'STOP', usage }],
});

/** A model that answers from a list and remembers what it was asked; the last answer repeats. */
export function scriptedStreamer(...answers: readonly ScriptedAnswer[]) {
  const requests: ModelRequest[] = [];
  const model: ModelStreamer = {
    async *stream(request, signal) {
      const answer = answers[Math.min(requests.length, answers.length - 1)];
      requests.push(structuredClone(request));
      await answer?.gate;
      for (const chunk of answer?.chunks ?? []) {
        signal.throwIfAborted();
        yield structuredClone(chunk);
      }
      if (answer?.error) throw answer.error;
    },
  };
  return { model, requests };
}
