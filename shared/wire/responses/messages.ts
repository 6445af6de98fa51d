import { z } from 'zod';
import { turnStateSchema } from '#shared/conversation/documents/turn.ts';
import { routingSchema } from '#shared/routing/routing.ts';
import { contextObjectResponse } from './context-object.ts';
import { recalledResponse } from './recalled.ts';
import { shrinkageResponse } from './context.ts';
import { time, tokens } from './fields.ts';
import { feedbackResponse } from './ratings.ts';

const outputPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('file'),
    mediaType: z.string().optional(),
    data: z.string().optional(),
    url: z.string().optional(),
    uploadId: z.string().optional().describe('`GET /v1/uploads/{uploadId}` has its address.'),
    name: z.string().optional().describe('Of an upload.'),
  }),
  z.object({
    type: z.literal('functionCall'),
    name: z.string(),
    args: z.record(z.string(), z.unknown()),
  }),
  z.object({
    type: z.literal('functionResponse'),
    name: z.string(),
    response: z.record(z.string(), z.unknown()),
  }),
]);

export const finishReasonResponse = z.enum([
  'stop',
  'length',
  'content-filter',
  'tool-calls',
  'error',
  'other',
]);

export const loopResponse = z
  .enum(['text', 'calls'])
  .describe(
    'The answer was ended because its text, or its calls of tools, said the same again and again.',
  );

const replaces = z
  .number()
  .int()
  .optional()
  .describe('First of the turns that this one stands in for, after an edit or a regeneration.');

const unreadable = z
  .string()
  .optional()
  .describe(
    'Which field of the stored turn cannot be read any more: what it said is not shown and in no context. It stays stored.',
  );

export const messageResponse = z.object({
  id: z.string().describe('The client’s id of a user message, m_{seq} of an answer.'),
  turnId: z.string(),
  seq: z.number().int(),
  role: z.enum(['user', 'model']),
  parts: z.array(outputPart),
  state: turnStateSchema.describe('State of the message’s turn.'),
  createTime: time,
  finishReason: finishReasonResponse.optional(),
  loop: loopResponse.optional(),
  inContext: z.boolean(),
  replaces,
  recalled: recalledResponse.optional(),
  deleted: z.literal(true).optional().describe('Its content was erased; its place stays.'),
  unreadable,
  feedback: feedbackResponse.optional().describe('What the user said of this answer.'),
});
export type MessageView = z.infer<typeof messageResponse>;

export const messageListResponse = z.object({
  messages: z.array(messageResponse),
  nextPageToken: z.string().optional(),
});

export const usageResponse = z.object({
  promptTokens: tokens,
  cachedTokens: tokens,
  outputTokens: tokens,
  costMicros: z
    .number()
    .optional()
    .describe('Millionths of a US dollar; absent where no model reported what it took.'),
});

export const routingResponse = routingSchema.describe(
  'Where the model of the conversation is `auto`: which of the two answers, who chose it, and its id.',
);

export const turnResponse = z.object({
  id: z.string(),
  seq: z.number().int(),
  state: turnStateSchema,
  attempt: z.number().int(),
  messageId: z.string(),
  answerId: z.string(),
  createTime: time,
  finishTime: time.optional(),
  finishReason: finishReasonResponse.optional(),
  loop: loopResponse.optional(),
  inContext: z.boolean(),
  unreadable,
  replaces,
  usage: usageResponse.optional(),
  model: z
    .string()
    .optional()
    .describe(
      'Id of the model that answers, from the first call to the last, whatever the conversation is changed to meanwhile; absent while none is chosen.',
    ),
  routing: routingResponse.optional(),
  recalled: recalledResponse.optional(),
  cancelRequested: z
    .boolean()
    .optional()
    .describe('Somebody asked to stop the answer; it may still run for a moment.'),
  openCalls: z
    .array(
      z.object({
        callId: z.string(),
        name: z.string(),
        args: z.record(z.string(), z.unknown()),
        wants: z
          .enum(['output', 'approved'])
          .describe('output: the app runs it; approved: the server does, if the user allows it.'),
      }),
    )
    .optional()
    .describe('Of a turn that waits (`awaiting_tool`): what for.'),
  error: z
    .object({
      status: z.string(),
      reason: z.string(),
      message: z.string(),
      retryable: z.boolean(),
    })
    .optional(),
});
export type TurnView = z.infer<typeof turnResponse>;

/** Server-sent events; each `data` is a chunk of the AI SDK's UI message stream v1. */
export const streamResponse = z.string();

export const sendMessageResponse = z.object({
  turn: turnResponse,
  userMessage: messageResponse,
  message: messageResponse,
  context: contextObjectResponse,
  usage: usageResponse.nullable(),
  replayed: z.boolean(),
  shrunken: shrinkageResponse.optional(),
});
