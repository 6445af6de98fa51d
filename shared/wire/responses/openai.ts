import { z } from 'zod';
import { tokens } from './fields.ts';

/* What clients of OpenAI read: https://platform.openai.com/docs/api-reference/chat */

const finishReason = z.enum(['stop', 'length', 'content_filter', 'tool_calls']);
export type OpenAiFinishReason = z.infer<typeof finishReason>;

const usage = z.object({
  prompt_tokens: tokens,
  completion_tokens: tokens.describe('Thinking included.'),
  total_tokens: tokens,
  prompt_tokens_details: z.object({ cached_tokens: tokens }),
  completion_tokens_details: z.object({ reasoning_tokens: tokens }),
});
export type OpenAiUsage = z.infer<typeof usage>;

const recap = z
  .object({ conversationId: z.string(), turnId: z.string(), generation: z.number().int() })
  .describe('Where the answer stands; absent where nothing is stored.');
export type RecapField = z.infer<typeof recap>;

const toolCall = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string().describe('JSON.') }),
});
export type OpenAiToolCall = z.infer<typeof toolCall>;

const identity = { id: z.string(), created: z.number().int(), model: z.string() };

export const chatCompletionResponse = z.object({
  ...identity,
  object: z.literal('chat.completion'),
  choices: z.array(
    z.object({
      index: z.literal(0),
      message: z.object({
        role: z.literal('assistant'),
        content: z.string(),
        refusal: z.null(),
        tool_calls: z
          .array(toolCall)
          .optional()
          .describe('What the turn waits for; answer by messages of the role `tool`.'),
      }),
      logprobs: z.null(),
      finish_reason: finishReason,
    }),
  ),
  usage: usage.optional(),
  recap: recap.optional(),
});
export type ChatCompletion = z.infer<typeof chatCompletionResponse>;

export const chatCompletionChunk = z.object({
  ...identity,
  object: z.literal('chat.completion.chunk'),
  choices: z.array(
    z.object({
      index: z.literal(0),
      delta: z.object({
        role: z.literal('assistant').optional(),
        content: z.string().optional(),
        tool_calls: z.array(toolCall.extend({ index: z.number().int() })).optional(),
      }),
      logprobs: z.null(),
      finish_reason: finishReason.nullable(),
    }),
  ),
  usage: usage.nullable().optional(),
  recap: recap.optional(),
});
export type ChatCompletionChunk = z.infer<typeof chatCompletionChunk>;

export const modelListResponse = z.object({
  object: z.literal('list'),
  data: z.array(
    z.object({
      id: z.string(),
      object: z.literal('model'),
      created: z.number().int(),
      owned_by: z.string(),
    }),
  ),
});

/** The error of an answer; `status` and `details` as in every other error of the API. */
export interface OpenAiError {
  message: string;
  type: string;
  param: string | null;
  code: string;
  status: string;
  details: readonly object[];
}
