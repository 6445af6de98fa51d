import { z } from 'zod';

/** A document id: no slash. */
const conversationId = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[^/]+$/);

const requestFields = {
  schemaVersion: z.literal(1),
  conversationId,
  requestId: z.string().min(1).max(128),
};

/** Reads a compaction request from the topic; fields that this version does not know are dropped. */
const compactionRequestSchema = z.object({
  ...requestFields,
  kind: z.literal('compact').default('compact'),
});

/** What may be published as a request; an unknown field is a mistake of the writer. */
const compactionRequestWriteSchema = z.strictObject(requestFields);

/**
 * Every event of the worker's topic. All of them are hints: what there is to do stands in the documents.
 * One without a kind is a compaction request.
 */
export const workerEventSchema = z.discriminatedUnion('kind', [
  compactionRequestSchema,
  /** Mend what nobody came back to, in all conversations; published on a schedule. */
  z.object({ schemaVersion: z.literal(1), kind: z.literal('sweep') }),
  /** Erase a conversation that is marked as erasing. */
  z.object({ schemaVersion: z.literal(1), kind: z.literal('erase'), conversationId }),
  /** Put the folded turns of a conversation into the index of recall; `isBroken`: look at what is there first. */
  z.object({
    schemaVersion: z.literal(1),
    kind: z.literal('index'),
    conversationId,
    isBroken: z.boolean().optional(),
  }),
]);

export type WorkerEvent = z.infer<typeof workerEventSchema>;

/** The event that has the workers look at one conversation. */
export const requestEvent = (request: { conversationId: string; requestId: string }) =>
  compactionRequestWriteSchema.parse({ schemaVersion: 1, ...request });

/** The event that a scheduler publishes every five minutes. */
export const sweepEvent = Object.freeze({ schemaVersion: 1, kind: 'sweep' } satisfies WorkerEvent);

/** The event that has a conversation erased at once instead of by the next sweep. */
export const eraseEvent = (erased: { conversationId: string }): WorkerEvent =>
  workerEventSchema.parse({ schemaVersion: 1, kind: 'erase', ...erased });

/** The event that has the folded turns of a conversation put into the index of recall. */
export const indexEvent = (indexed: { conversationId: string; isBroken: boolean }): WorkerEvent =>
  workerEventSchema.parse({ schemaVersion: 1, kind: 'index', ...indexed });
