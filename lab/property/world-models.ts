import { AppError } from '#shared/errors.ts';
import type { ModelChunk, ModelRequest, ModelResponse } from '#shared/ports/ports.ts';
import { estimatePromptTokens } from '#shared/tokens/token-estimate.ts';
import { overloaded } from '#test/support/model-down.ts';
import type { Flow } from './flow.ts';
import type { Interleaving } from './interleaving.ts';
import type { Journal } from './journal.ts';
import { chatAnswer, chatCalls, summaryAnswer } from './scripted-models.ts';

const aborted = () =>
  new AppError({
    status: 'CANCELLED',
    reason: 'ABORTED',
    message: 'the call was aborted',
    publicMessage: 'The call was aborted.',
  });

const usageOf = (request: ModelRequest, text: string) => ({
  promptTokens: estimatePromptTokens(request, 'character-class'),
  cachedTokens: 0,
  outputTokens: Math.ceil(text.length / 4),
  thoughtsTokens: 0,
});

/** The models of chat and worker; each call is an effect of the interleaving, and those of chat are noted. */
export function createModels(interleaving: Interleaving, journal: Journal) {
  async function call<T>(
    flow: Flow,
    name: string,
    { signal, answer }: { signal: AbortSignal; answer: () => T },
  ): Promise<T> {
    const apply = () => Promise.resolve(answer());
    const result = await interleaving.effect(flow, () => name, { apply, failure: overloaded });
    if (signal.aborted) throw aborted();
    return result;
  }

  async function* stream(
    flow: Flow,
    request: ModelRequest,
    signal: AbortSignal,
  ): AsyncIterable<ModelChunk> {
    const text = await call(flow, `model answers ${request.promptId}`, {
      signal,
      answer: () => {
        journal.chatCalls.push({ ...request, flow, afterCommits: journal.commits.length });
        return chatAnswer(request);
      },
    });
    const calls = chatCalls(request);
    if (calls.length > 0) {
      yield { parts: calls, finishReason: 'STOP', usage: usageOf(request, JSON.stringify(calls)) };
      return;
    }
    yield { parts: [{ text }] };
    yield { parts: [], finishReason: 'STOP', usage: usageOf(request, text) };
  }

  const summarise = (
    flow: Flow,
    request: ModelRequest,
    signal: AbortSignal,
  ): Promise<ModelResponse> =>
    call(flow, `summariser answers ${request.promptId}`, {
      signal,
      answer: () => summaryAnswer(request),
    });

  return { stream, summarise };
}
