import { z } from 'zod';
import { tokens } from '#shared/wire/fields.ts';
import { ignored } from '../openai.ts';
import { contextObjectResponse } from '#shared/wire/resources/context-object.ts';

/* What clients of OpenAI’s Responses API read. */

const status = z.enum(['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled']);
const itemStatus = z.enum(['in_progress', 'completed', 'incomplete']);

export const responseOutputText = z.object({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z
    .array(
      z.object({
        type: z.literal('url_citation'),
        url: z.string(),
        title: z.string(),
        start_index: z.number().int(),
        end_index: z.number().int(),
      }),
    )
    .describe('Sources of the text, where the deployment has `GROUNDING`.'),
  logprobs: z.array(z.unknown()),
});

export const responseOutputItem = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message'),
    id: z.string(),
    status: itemStatus,
    role: z.literal('assistant'),
    content: z.array(responseOutputText),
  }),
  z.object({
    type: z.literal('function_call'),
    id: z.string(),
    call_id: z.string(),
    name: z.string(),
    arguments: z.string().describe('JSON.'),
    status: itemStatus,
  }),
]);
export type ResponseOutputItem = z.infer<typeof responseOutputItem>;

const usage = z.object({
  input_tokens: tokens,
  input_tokens_details: z.object({ cached_tokens: tokens }),
  output_tokens: tokens.describe('Thinking included.'),
  output_tokens_details: z.object({ reasoning_tokens: tokens }),
  total_tokens: tokens,
});
export type ResponseUsage = z.infer<typeof usage>;

const recap = z
  .object({
    conversationId: z.string(),
    turnId: z.string(),
    generation: z.number().int(),
    context: contextObjectResponse
      .optional()
      .describe('At the end of an answer: the size of the context, and its compaction.'),
    approvals: z
      .array(z.object({ callId: z.string(), toolName: z.string() }))
      .optional()
      .describe(
        'Calls of the server that wait until the user allows them: `POST …/turns/{turnId}/toolResults`.',
      ),
  })
  .describe('Where the answer stands.');

/** What a request asked for, as OpenAI’s clients read it back; of a stored response as its conversation has it. */
const echo = {
  instructions: z.string().nullable(),
  previous_response_id: z.string().nullable(),
  tools: z.array(z.looseObject({ type: z.literal('function'), name: z.string() })),
  tool_choice: z.union([
    z.enum(['auto', 'none', 'required']),
    z.object({ type: z.literal('function'), name: z.string() }),
  ]),
  truncation: z.enum(['auto', 'disabled']),
  parallel_tool_calls: z.boolean(),
  text: z.object({ format: z.looseObject({ type: z.string() }) }),
  top_p: z.number(),
  temperature: z.number(),
  presence_penalty: z.literal(0),
  frequency_penalty: z.literal(0),
  top_logprobs: z.literal(0),
  reasoning: z.object({ effort: z.string().nullable(), summary: z.null() }),
  max_output_tokens: z.number().int().nullable(),
  max_tool_calls: z.null(),
  store: z.literal(true),
  background: z.boolean(),
  service_tier: z.literal('default'),
  metadata: z.record(z.string(), z.string()),
  safety_identifier: z.null(),
  prompt_cache_key: z.null(),
};

export const responseResource = z.object({
  id: z.string(),
  object: z.literal('response'),
  created_at: z.number().int(),
  completed_at: z.number().int().nullable(),
  status,
  error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
  incomplete_details: z
    .object({ reason: z.enum(['max_output_tokens', 'content_filter', 'approval_required']) })
    .nullable(),
  model: z.string(),
  output: z.array(responseOutputItem),
  usage: usage.nullable(),
  conversation: z.object({ id: z.string() }),
  ...echo,
  recap,
  ...ignored,
});
export type ResponseResource = z.infer<typeof responseResource>;

export const inputItemList = z.object({
  object: z.literal('list'),
  data: z.array(z.looseObject({ type: z.string(), id: z.string() })),
  first_id: z.string(),
  last_id: z.string(),
  has_more: z.boolean(),
});

export const deletedResponse = z.object({
  id: z.string(),
  object: z.literal('response'),
  deleted: z.literal(true),
});
