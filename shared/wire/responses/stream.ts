import { z } from 'zod';
import { contextObjectResponse } from './context-object.ts';
import { shrinkageResponse } from './context.ts';
import { usageResponse, finishReasonResponse } from './messages.ts';

const generation = z.number().int();

/**
 * One event of an answer's stream as its `data`: a chunk of the AI SDK's UI message stream v1. Clients skip
 * types that they do not know.
 */
export const streamChunkResponse = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('start'),
    messageId: z.string(),
    messageMetadata: z.object({
      turnId: z.string(),
      conversationId: z.string(),
      generation,
      replayed: z.boolean(),
      shrunken: shrinkageResponse.optional(),
    }),
  }),
  z.object({ type: z.literal('text-start'), id: z.string() }),
  z.object({ type: z.literal('text-delta'), id: z.string(), delta: z.string() }),
  z.object({ type: z.literal('text-end'), id: z.string() }),
  z.object({
    type: z.literal('data-context'),
    id: z.literal('ctx'),
    transient: z.literal(true),
    data: contextObjectResponse,
  }),
  z.object({
    type: z.literal('data-title'),
    id: z.literal('title'),
    transient: z.literal(true),
    data: z
      .object({ title: z.string() })
      .describe('The title that was made for the conversation; absent where it came later.'),
  }),
  z.object({
    type: z.literal('data-notice'),
    id: z.string(),
    data: z.object({
      kind: z.literal('restarted'),
      dropParts: z.array(z.string()).describe('Ids of text parts that no longer hold.'),
    }),
  }),
  z.object({ type: z.literal('error'), errorText: z.string() }),
  z.object({ type: z.literal('abort') }),
  z.object({
    type: z.literal('finish'),
    finishReason: finishReasonResponse,
    messageMetadata: z.object({ usage: usageResponse.optional(), generation }),
  }),
]);
