import { z } from 'zod';
import { partSchema } from '../../../shared/conversation/content.ts';
import type { ModelResponse, ModelUsage } from '../../../shared/ports.ts';
import { type ModelCall, overloadedError } from './gemini-errors.ts';

const partsSchema = z.array(partSchema);

const responseSchema = z.object({
  candidates: z
    .array(
      z.object({
        content: z.object({ parts: z.unknown().optional() }).optional(),
        finishReason: z.string().optional(),
      }),
    )
    .optional(),
  promptFeedback: z.object({ blockReason: z.string().optional() }).optional(),
  usageMetadata: z
    .object({
      initialPromptTokenCount: z.number().optional(),
      promptTokenCount: z.number().optional(),
      cachedContentTokenCount: z.number().optional(),
      candidatesTokenCount: z.number().optional(),
      thoughtsTokenCount: z.number().optional(),
    })
    .optional(),
});

/** What is read of a response, by the SDK or here. */
export type GeminiResponse = z.infer<typeof responseSchema>;

/** A response as it was sent. Throws MODEL_OVERLOADED for another shape. */
export function parseResponse(call: ModelCall, response: unknown): GeminiResponse {
  const parsed = responseSchema.safeParse(response);
  if (!parsed.success) throw overloadedError(call, 'the answer has another shape');
  return parsed.data;
}

/** Prompt tokens are those of the first hop where the API tells them apart; thoughts stand on their own. */
function toUsage(response: GeminiResponse): ModelUsage | undefined {
  const usage = response.usageMetadata;
  const promptTokens = usage?.initialPromptTokenCount ?? usage?.promptTokenCount;
  if (usage === undefined || promptTokens === undefined) return undefined;
  return {
    promptTokens,
    cachedTokens: usage.cachedContentTokenCount ?? 0,
    outputTokens: usage.candidatesTokenCount ?? 0,
    thoughtsTokens: usage.thoughtsTokenCount ?? 0,
  };
}

/**
 * The first candidate of a response or stream event, its parts untouched. A blocked prompt has
 * `blockReason` and no parts. Throws MODEL_OVERLOADED for parts of another shape.
 */
export function toModelResponse(call: ModelCall, response: GeminiResponse): ModelResponse {
  const candidate = response.candidates?.[0];
  const parts = partsSchema.safeParse(candidate?.content?.parts ?? []);
  if (!parts.success) throw overloadedError(call, 'the answer has parts that cannot be read');
  const finishReason = candidate?.finishReason;
  const blockReason = response.promptFeedback?.blockReason;
  const usage = toUsage(response);
  return {
    parts: parts.data,
    ...(finishReason !== undefined && { finishReason }),
    ...(blockReason !== undefined && { blockReason }),
    ...(usage !== undefined && { usage }),
  };
}

/** Whether an answer is over: it says why, or the prompt was refused. */
export function isFinal(response: ModelResponse): boolean {
  return response.finishReason !== undefined || response.blockReason !== undefined;
}
