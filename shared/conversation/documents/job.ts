import { z } from 'zod';
import type { StoredDocument } from '#shared/ports/ports.ts';
import { triggerSchema, type Versioned } from './conversation.ts';
import { readWhole } from './read-fields.ts';
import { refuseNewer } from './schema-version.ts';

/** One attempt at a compaction as it stays visible, NOOP and failures too. */
const compactionRecordSchema = z.object({
  requestId: z.string(),
  state: z.string(),
  trigger: triggerSchema,
  requestedAt: z.date(),
  finishedAt: z.date(),
  beforeTokens: z.number(),
  afterTokens: z.number(),
  /** The generation that it made; absent when nothing was swapped. */
  generation: z.number().int().optional(),
  turnsFolded: z.number().int(),
  modelCalls: z.number().int(),
  /** What the model calls took; absent where none was made. */
  tokens: z.object({ promptTokens: z.number(), outputTokens: z.number() }).optional(),
  /** Millionths of a US dollar; absent where the model's price is not known. */
  costMicros: z.number().optional(),
  durationMs: z.number(),
  model: z.string().optional(),
  /** Of a comparison that the deployment runs: which settings the conversation has. */
  variant: z.string().optional(),
  reason: z.string().optional(),
  /** Of a search for what a filter blocks: a hash of what stood in every prompt. */
  searchedPrefix: z.string().optional(),
});
export type CompactionRecord = z.infer<typeof compactionRecordSchema>;

/** How many attempts the job document remembers; the newest stay. */
export const RECORDS_KEPT = 20;

const jobSchema = z.object({
  schemaVersion: z.literal(1),
  /** Nonce of the worker that holds the lease; '' when free. */
  owner: z.string(),
  leaseUntil: z.date(),
  /** Rises with every lease taken. */
  fence: z.number().int().nonnegative(),
  requestId: z.string(),
  /** The step that the holder has reached, for status and for the curious. */
  step: z.string(),
  failures: z.number().int().nonnegative(),
  breakerOpenUntil: z.date().nullable(),
  /** Conversation tokens when the breaker opened; null or absent: not open, or not known. */
  breakerOpenTokens: z.number().nullable().optional(),
  /** Attempts at the present need; cleared when it is settled. */
  attempts: z.number().int().nonnegative(),
  /** Attempts at the newest automatic need: a manual run in between does not reset them. */
  autoAttempts: z.object({ requestId: z.string(), count: z.number().int() }).optional(),
  retryAt: z.date().nullable(),
  /** Runs of the last day that asked a model, whatever `records` still holds. Absent = none. */
  spent: z.array(z.object({ at: z.date(), tokens: z.number() })).optional(),
  records: z.array(compactionRecordSchema),
});

/** `conversations/{c}/jobs/compaction`. */
export type CompactionJob = z.infer<typeof jobSchema>;

/** A job that nobody is at and that remembers nothing. */
const freshJob: CompactionJob = {
  schemaVersion: 1,
  owner: '',
  leaseUntil: new Date(0),
  fence: 0,
  requestId: '',
  step: '',
  failures: 0,
  breakerOpenUntil: null,
  attempts: 0,
  retryAt: null,
  records: [],
};

/** Reads the job; what of it cannot be read is as in a fresh one. Throws NewerDocumentError. */
export function decodeJob(document: StoredDocument): Versioned<CompactionJob> {
  refuseNewer(document);
  return { ...readWhole(jobSchema, document.fields, freshJob), updateTime: document.updateTime };
}
