import { z } from 'zod';

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

/** What may be published; an unknown field is a mistake of the writer. */
export const compactionRequestWriteSchema = z.strictObject(requestFields);
