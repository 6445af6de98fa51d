import { AppError } from '#shared/errors.ts';
import type { ModelRequest, ModelResponse, ModelStreamer } from '#shared/ports/ports.ts';
import { createScriptedModel, snapshotAnswer } from './scripted-model.ts';

const usage = { promptTokens: 100, cachedTokens: 0, outputTokens: 5, thoughtsTokens: 0 };

/** What a model makes of a request that it does not answer: an error, or a whole answer in the place of its own. */
export type Refusal = (request: ModelRequest, text: string) => AppError | ModelResponse | undefined;

/** A refusal with an HTTP code, as the Gemini adapter words it. */
export const refusedWith = (httpStatus: number, metadata: Record<string, string> = {}): AppError =>
  new AppError({
    status: 'INTERNAL',
    reason: 'MODEL_REFUSED_REQUEST',
    message: `refused with ${httpStatus}`,
    publicMessage: 'The model did not accept the request.',
    retryable: httpStatus === 403,
    metadata: { httpStatus: String(httpStatus), ...metadata },
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
