import { contentText } from '#shared/models/content.ts';
import { AppError } from '#shared/lib/errors.ts';
import type {
  ModelChunk,
  ModelRequest,
  ModelStreamer,
  ModelResponse,
} from '#shared/ports/ports.ts';
import { createScriptedModel, snapshotAnswer } from './scripted-model.ts';

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

interface HeldCall {
  request: ModelRequest;
  /** What the user says last. */
  text: string;
  /** Lets the answer out. */
  answer(): void;
}

/**
 * A model that answers `Answer to {text}.`, each call when a test lets it, or at once after `answerAll`.
 */
export function heldStreamer() {
  const calls: HeldCall[] = [];
  const open = Promise.withResolvers<void>();
  const model: ModelStreamer = {
    async *stream(request, signal) {
      const gate = Promise.withResolvers<void>();
      const last = request.contents.at(-1);
      const text = last ? contentText(last) : '';
      calls.push({ request: structuredClone(request), text, answer: gate.resolve });
      const stopped = Promise.withResolvers<void>();
      signal.addEventListener('abort', () => stopped.resolve(), { once: true });
      await Promise.race([gate.promise, open.promise, stopped.promise]);
      signal.throwIfAborted();
      yield { parts: [{ text: `Answer to ${text}.` }] };
      yield {
        parts: [],
        finishReason: 'STOP',
        usage: { promptTokens: 100, cachedTokens: 0, outputTokens: 10, thoughtsTokens: 0 },
      };
    },
  };
  return { model, calls, answerAll: () => open.resolve() };
}

const usage = { promptTokens: 100, cachedTokens: 0, outputTokens: 5, thoughtsTokens: 0 };

/** What a model makes of a request that it does not answer: an error, or a whole answer in the place of its own. */
export type Refusal = (request: ModelRequest, text: string) => AppError | ModelResponse | undefined;

/** A refusal with an HTTP code, as the Gemini adapter words it. */
export const refusedWith = (httpStatus: number): AppError =>
  new AppError({
    status: 'INTERNAL',
    reason: 'MODEL_REFUSED_REQUEST',
    message: `refused with ${httpStatus}`,
    publicMessage: 'The model did not accept the request.',
    retryable: httpStatus === 403,
    metadata: { httpStatus: String(httpStatus) },
  });

/** A model for both functions that answers what it does not refuse, and remembers all requests with their outcome. */
export function choosyModel() {
  const requests: ModelRequest[] = [];
  const state: { refuse: Refusal; say: ModelResponse['parts']; summary: string } = {
    refuse: () => undefined,
    say: [{ text: 'Fine.' }],
    summary: snapshotAnswer(),
  };
  const scripted = createScriptedModel({ answers: [() => Promise.resolve(state.summary)] });
  const refusalOf = (request: ModelRequest): ModelResponse | undefined => {
    requests.push(structuredClone(request));
    const refusal = state.refuse(request, JSON.stringify(request.contents));
    if (refusal instanceof AppError) throw refusal;
    return refusal;
  };
  const streamer: ModelStreamer = {
    // eslint-disable-next-line require-await
    async *stream(request) {
      yield refusalOf(request) ?? { parts: state.say, finishReason: 'STOP', usage };
    },
  };
  const model = Object.assign(Object.create(scripted), {
    ...streamer,
    generate: async (request: ModelRequest, signal: AbortSignal) =>
      refusalOf(request) ?? scripted.generate(request, signal),
  }) as ModelStreamer & typeof scripted;
  return { model, requests, state };
}
