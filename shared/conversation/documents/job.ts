import type { StoredDocument } from '#shared/ports/ports.ts';
import { triggerSchema, type Versioned, type Conversation } from './conversation.ts';
import { readWhole, refuseNewer } from './read-document.ts';
import { z } from 'zod';

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

const pauseSchema = z.object({
  /** `RETRY_LATER`: between two attempts at one request. The last two: the dollars of the day are used up. */
  reason: z.enum(['RETRY_LATER', 'BREAKER_OPEN', 'USER_DAILY_USD', 'GLOBAL_BUDGET']),
  until: z.date(),
  /** Size of the context that ends the pause earlier; absent: none does. */
  fromTokens: z.number().optional(),
});
export type Pause = z.infer<typeof pauseSchema>;

/** What runs that asked a model took, of an hour and of a day that each began with its first run. */
const spentSchema = z.object({
  hourSince: z.date(),
  runs: z.number().int().nonnegative(),
  daySince: z.date(),
  tokens: z.number().nonnegative(),
});
export type Spent = z.infer<typeof spentSchema>;

const brakeSchema = z.object({
  /** Of the model, in a row. */
  failures: z.number().int().nonnegative(),
  pause: pauseSchema.optional(),
  spent: spentSchema.optional(),
});
/** What holds the next compaction back. */
export type JobBrake = z.infer<typeof brakeSchema>;

const attemptsSchema = z.object({ requestId: z.string(), count: z.number().int().nonnegative() });

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
  /** Attempts at the newest request of each kind: one kind does not reset the other. */
  attempts: z.object({ auto: attemptsSchema.optional(), manual: attemptsSchema.optional() }),
  brake: brakeSchema,
  records: z.array(compactionRecordSchema),
});

/** `conversations/{c}/jobs/compaction`. */
export type CompactionJob = z.infer<typeof jobSchema>;

/** Whether a worker is at it. */
export const isHeld = (
  job: Pick<CompactionJob, 'owner' | 'leaseUntil'> | undefined,
  now: Date,
): boolean => job !== undefined && job.owner !== '' && job.leaseUntil > now;

/** A job without a worker and without a past. */
export const freshJob: CompactionJob = {
  schemaVersion: 1,
  owner: '',
  leaseUntil: new Date(0),
  fence: 0,
  requestId: '',
  step: '',
  attempts: {},
  brake: { failures: 0 },
  records: [],
};

/** Reads the job; what of it cannot be read is as in a fresh one. Throws NewerDocumentError. */
export function decodeJob(document: StoredDocument): Versioned<CompactionJob> {
  refuseNewer(document);
  return { ...readWhole(jobSchema, document.fields, freshJob), updateTime: document.updateTime };
}

/**
 * The job as a conversation document was read with it, with its newest record alone; `job` is undefined where there is
 * none.
 */
export interface KnownJob extends Pick<Conversation, 'epoch' | 'generation' | 'settledRequest'> {
  job: CompactionJob | undefined;
}

type Asking = Pick<Conversation, 'epoch' | 'generation' | 'settledRequest' | 'compactionRequests'>;

const isQuiet = ({ compactionRequests: { auto, manual } }: Asking): boolean =>
  auto === undefined && manual === undefined;

/**
 * Whether the job still tells what it told. While a request waits it changes at every step. Else it does with a
 * generation, or with a request that came and was taken off again, and both stand in the conversation document.
 */
export const isStillTold = (known: KnownJob, conversation: Asking): boolean =>
  isQuiet(conversation) &&
  known.epoch === conversation.epoch &&
  known.generation === conversation.generation &&
  known.settledRequest === conversation.settledRequest;

/**
 * What may be kept of a job that was read with `conversation`; undefined while a worker is at it, or a request waits.
 */
export function knownJob(
  conversation: Asking,
  job: CompactionJob | undefined,
  now: Date,
): KnownJob | undefined {
  if (!isQuiet(conversation) || isHeld(job, now)) return undefined;
  const { epoch, generation, settledRequest } = conversation;
  return {
    epoch,
    generation,
    settledRequest,
    job: job && { ...job, records: job.records.slice(-1) },
  };
}
