import type { Content } from '#shared/models/content.ts';
import type { OtherModel } from '#functions/app.ts';
import { once } from '#shared/lib/once.ts';
import type { ModelRequest, ModelResponse } from '#shared/ports/ports.ts';

/* Who may write summaries: Gemini, a model of the AI SDK, a function. */

/** One question to a model. */
export interface SummaryPrompt {
  systemInstruction: string;
  contents: readonly Content[];
  /** JSON Schema of the answer, to be given to the model. Absent: it is to answer in plain text. */
  responseJsonSchema?: unknown;
  /** Bound of the answer, thoughts included. */
  maxOutputTokens: number;
  /** Names the call in logs. */
  promptId: string;
  /** Fires when the answer is not wanted any more. */
  signal: AbortSignal;
}

/** An answer. */
export interface SummaryText {
  text: string;
  /** `STOP` (the default) where the answer is whole; one that ended for another reason is refused. */
  finishReason?: string;
  /** Tokens as the model reported them. */
  usage?: { promptTokens: number; outputTokens: number };
}

/** A function that asks a model, or a script in a test. What it throws, `compact` throws. */
export type SummaryFunction = (
  prompt: SummaryPrompt,
) => string | SummaryText | Promise<string | SummaryText>;

/** Asks a model by the request of Recap's port. Throws AppError, e.g. MODEL_QUOTA and MODEL_OVERLOADED (`retryable`). */
export interface SummaryModel {
  /** As reports call it. */
  id: string;
  /** Of its context window; default: that of the policy. */
  windowTokens?: number;
  generate(request: ModelRequest, signal: AbortSignal): Promise<ModelResponse>;
}

/** What `compact` asks: what `fromGemini(…)` and `fromAiSdk(…)` give, or a function. */
export type CompactionModel = SummaryModel | OtherModel | SummaryFunction;

/** Bound of one call, ms: that of a whole compaction's part in the service. */
const CALL_TIMEOUT_MS = 300_000;

const timeouts = {
  firstEventTimeoutMs: CALL_TIMEOUT_MS,
  eventIdleTimeoutMs: CALL_TIMEOUT_MS,
  requestTimeoutMs: CALL_TIMEOUT_MS,
};

/**
 * A Gemini model: of the Gemini API with `apiKey`, of Vertex AI with `vertex` and the credentials of the surroundings.
 * `@google/genai` is loaded with the first call.
 */
export function fromGemini(
  id: string,
  server:
    | { apiKey: string; baseUrl?: string }
    | { vertex: { project: string; location: string }; baseUrl?: string },
): SummaryModel {
  const load = once(async () => {
    const { createGeminiModel } = await import('#functions/adapters/gemini/gemini-model.ts');
    return createGeminiModel({ ...server, ...timeouts });
  });
  return {
    id,
    generate: async (request, signal) => (await load()).generate(request, signal),
  };
}

function ofAiSdk({ id, windowTokens, source }: OtherModel): SummaryModel {
  return {
    id,
    windowTokens,
    generate: async (request, signal) => {
      const { createAiSdkModel } = await import('#functions/adapters/ai-sdk-model.ts');
      return createAiSdkModel(source, timeouts).generate(request, signal);
    },
  };
}

const ofFunction = (ask: SummaryFunction): SummaryModel => ({
  id: 'function',
  async generate(request, signal) {
    const { systemInstruction = '', contents, responseJsonSchema, promptId } = request;
    const answer = await ask({
      systemInstruction,
      contents,
      responseJsonSchema,
      maxOutputTokens: request.maxOutputTokens ?? Infinity,
      promptId,
      signal,
    });
    const {
      text,
      finishReason = 'STOP',
      usage,
    } = typeof answer === 'string' ? { text: answer } : answer;
    return {
      parts: [{ text }],
      finishReason,
      ...(usage && { usage: { ...usage, cachedTokens: 0, thoughtsTokens: 0 } }),
    };
  },
});

/** Whatever is given as the one port. Throws TypeError for what is no model. */
export function toSummaryModel(model: CompactionModel): SummaryModel {
  if (typeof model === 'function') return ofFunction(model);
  if (typeof model === 'object' && model !== null) {
    if ('source' in model) return ofAiSdk(model);
    if (typeof model.generate === 'function') return model;
  }
  throw new TypeError(
    'compact: model must be what fromGemini(…) or fromAiSdk(…) gives, or a function',
  );
}
