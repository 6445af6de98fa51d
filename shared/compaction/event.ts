import { z } from 'zod';
import { triggerSchema } from '../conversation/head.ts';
import { outcomeStateSchema } from './outcome-state.ts';

const requestFields = {
  schemaVersion: z.literal(1),
  /** A document id: no slash. */
  conversationId: z
    .string()
    .min(1)
    .max(128)
    .regex(/^[^/]+$/),
  requestId: z.string().min(1).max(128),
};

/** Reads a compaction request from the topic; fields that this version does not know are dropped. */
export const compactionRequestSchema = z.object(requestFields);
export type CompactionRequest = z.infer<typeof compactionRequestSchema>;

/** What may be published; an unknown field is a mistake of the writer. */
export const compactionRequestWriteSchema = z.strictObject(requestFields);

/** One attempt at a compaction for dashboards, NOOP and failures included (there before = after). */
export const chatCompressionSchema = z.strictObject({
  tokens_before: z.number().int().nonnegative(),
  tokens_after: z.number().int().nonnegative(),
  status: outcomeStateSchema,
  trigger: triggerSchema,
});
export type ChatCompression = z.infer<typeof chatCompressionSchema>;
