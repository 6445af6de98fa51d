import { toModelResponse } from '#functions/adapters/gemini/gemini-response.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { ModelChunk, ModelRequest, ModelResponse } from '#shared/ports/ports.ts';
import { estimatePromptTokens } from '#shared/tokens/token-estimate.ts';
import { overloaded } from '#test/support/model-down.ts';
import { jsonText } from './hostile-json.ts';
import type { Flow, Interleaving } from './interleaving.ts';
import { chatAnswer, chatCalls, summaryAnswer } from './scripted-models.ts';
import type { HostileValues, Journal } from './world-store.ts';
import { z } from 'zod';

const aborted = () =>
  new AppError({
    status: 'CANCELLED',
    reason: 'ABORTED',
    message: 'the call was aborted',
    publicMessage: 'The call was aborted.',
  });

const ledgerSchema = z.object({ operations: z.array(z.unknown()) });

const usageOf = (request: ModelRequest, text: string) => ({
  promptTokens: estimatePromptTokens(request, 'character-class'),
  cachedTokens: 0,
  outputTokens: Math.ceil(text.length / 4),
  thoughtsTokens: 0,
});

/** An event of a stream, as the API would send it, with a value wherever the model may have put one. */
const wildEvent = (value: unknown): unknown => ({
  candidates: [
    {
      content: {
        parts: [
          value,
          { text: value },
          { text: 'a', thought: value },
          { functionCall: value },
          { functionCall: { name: value } },
          { functionCall: { name: 'look', id: value, args: value } },
          { functionResponse: { name: 'look', response: value } },
          { inlineData: { mimeType: value, data: value } },
          { fileData: { fileUri: value }, condensed: value, upload: value },
        ],
      },
    },
  ],
  usageMetadata: { promptTokenCount: value, candidatesTokenCount: value },
});

/** The summary with a value in further operations, and as one of them. */
function wildSummary(good: ModelResponse, value: unknown): ModelResponse {
  const { operations } = ledgerSchema.parse(JSON.parse(good.parts[0]?.text ?? ''));
  const more = [
    { op: 'add', section: 'key_knowledge', text: value, sources: [value] },
    { op: value, section: value, text: 'a', sources: value },
    { op: 'remove', id: value, reason: value, sources: [value] },
    value,
  ];
  return {
    ...good,
    parts: [{ text: jsonText({ scratchpad: value, operations: [...operations, ...more] }) }],
  };
}

/** The models of chat and worker; each call is an effect of the interleaving, and those of chat are noted. */
export function createModels(interleaving: Interleaving, journal: Journal, hostile: HostileValues) {
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
    const event = {
      operation: 'stream',
      model: request.model,
      promptId: request.promptId,
    } as const;
    let wild: ModelChunk[] = [];
    const text = await call(flow, `model answers ${request.promptId}`, {
      signal,
      answer: () => {
        journal.chatCalls.push({ ...request, flow, afterCommits: journal.commits.length });
        wild = hostile.model.splice(0).map((value) => toModelResponse(event, wildEvent(value)));
        return chatAnswer(request);
      },
    });
    yield* wild;
    // Its answer follows the responses to what it has called.
    if (wild.some(({ parts }) => parts.some(({ functionCall }) => functionCall))) {
      yield { parts: [], finishReason: 'STOP', usage: usageOf(request, 'a call') };
      return;
    }
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
      answer: () => {
        const good = summaryAnswer(request);
        const [value] = hostile.summariser.splice(0, 1);
        return value === undefined ? good : wildSummary(good, value);
      },
    });

  return { stream, summarise };
}
