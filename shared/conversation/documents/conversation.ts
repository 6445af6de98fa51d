import { erasedTurnsSchema, lastAnswerSchema, lastMessageSchema } from './last-message.ts';
import { knownClientSchema } from '#shared/conversation/documents/client-context.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { StoredDocument, Write } from '#shared/ports/ports.ts';
import { routeSchema } from '#shared/models/routing.ts';
import { GENERATION_MAX, SEQ_MAX, conversationPath } from './paths.ts';
import { readWhole, refuseNewer, problemsOfFields } from './read-document.ts';
import { profileSchema } from './snapshot.ts';
import { z } from 'zod';

/** How far the history document of the current generation stands in for turns. */
export const coveredThroughSchema = z.object({
  /** All turns up to and including this one are folded; 0 = nothing is. */
  seq: z.number().int().nonnegative().max(SEQ_MAX),
  /** > 0: of turn `seq` only the contents after its user content up to this index are folded. */
  contentIndex: z.number().int().nonnegative(),
});
export type CoveredThrough = z.infer<typeof coveredThroughSchema>;

/** No history stands in for any turn. */
export const nothingCovered: CoveredThrough = { seq: 0, contentIndex: 0 };

/** What happens to a message while another is being answered. */
export const onBusySchema = z.enum(['reject', 'queue', 'interrupt']);
export type OnBusy = z.infer<typeof onBusySchema>;

/** Settings of one conversation; each is optional and falls through to the next level. */
export const conversationSettingsSchema = z.object({
  thresholdTokens: z.number().optional(),
  thresholdFraction: z.number().optional(),
  windowTokens: z.number().optional(),
  onBusy: onBusySchema.optional(),
  compaction: z.enum(['auto', 'manual', 'off']).optional(),
  /** Of an `auto` conversation: it is not asked which model is to answer. */
  routing: routeSchema.optional(),
  /** What of folded turns may be brought back for a message, tokens; 0: nothing. Never more than the deployment's. */
  recallTokens: z.number().int().nonnegative().optional(),
});
export type ConversationSettings = z.infer<typeof conversationSettingsSchema>;

const pinSchema = z.object({
  id: z.string(),
  text: z.string(),
  source: z.enum(['api', 'hook', 'detected']),
  seq: z.number().int().optional(),
});
export type Pin = z.infer<typeof pinSchema>;

export const triggerSchema = z.enum([
  'auto',
  'manual',
  'overflow',
  'modelSwitch',
  /** No compaction: a filter of the model blocks the prompt, and what of the context it is for is to be found. */
  'blocked',
]);
export type Trigger = z.infer<typeof triggerSchema>;

/** Of a context: far above the largest window, and far below where sums lose their meaning. */
const tokenCount = z.number().nonnegative().max(1e9);

/** What the meter knew when the last turn finished. */
const contextMeterSchema = z.object({
  /** Tokens of the context as it is sent, overhead included, after the last finished turn. */
  tokens: tokenCount,
  /** Part of `tokens` that no compaction can shrink: system instruction and tools. */
  overheadTokens: tokenCount,
  /** Factor from our estimate to what the model reported; 1 before the first report. */
  calibration: z.number().positive(),
  source: z.enum(['reported', 'counted', 'estimated']),
  /** Uncalibrated tokens of the pins and of the memory that `tokens` counts; absent = 0. */
  pinTokens: tokenCount.optional(),
  /** The memory's part of `pinTokens`; absent = 0. */
  memoryTokens: tokenCount.optional(),
  /** Uncalibrated tokens of the tool outputs, in the forms in which they were sent; absent = not known, or none. */
  outputTokens: tokenCount.optional(),
  /** The generation and the last turn that the figure is about. */
  generation: z.number().int().nonnegative(),
  seq: z.number().int().nonnegative(),
});
export type ContextMeter = z.infer<typeof contextMeterSchema>;

/** What a figure of a whole prompt is about, so that it can be kept up to date by what came since. */
export const measuredSchema = contextMeterSchema.pick({
  source: true,
  seq: true,
  pinTokens: true,
  memoryTokens: true,
  outputTokens: true,
});

const autoRequestSchema = z.object({
  requestId: z.string(),
  since: z.date(),
  trigger: triggerSchema,
});
const manualRequestSchema = z.object({
  requestId: z.string(),
  since: z.date(),
  focus: z.string().optional(),
});

/**
 * The outbox of compaction: a request stays here until a worker has told how it ended, whatever happens to events.
 */
const compactionRequestsSchema = z.object({
  auto: autoRequestSchema.optional(),
  manual: manualRequestSchema.optional(),
  /** Request id of the compaction that its owner calls off while a worker is at it. */
  cancel: z.string().optional(),
  /**
   * Size of the context when its owner called an automatic compaction off, or one saved too little: the next one waits,
   * as after a swap, until it has grown. Only of this generation.
   */
  declined: z
    .object({ tokens: z.number().nonnegative(), generation: z.number().int().nonnegative() })
    .optional(),
});
export type CompactionRequests = z.infer<typeof compactionRequestsSchema>;

/** `conversations/{c}`: small and hot; everything that a send must know and nothing else. */
export const conversationSchema = z.object({
  schemaVersion: z.literal(1),
  /** Drawn at creation: a client-chosen id can come back with another owner, its epoch cannot. */
  epoch: z.string(),
  state: z.enum(['live', 'forking', 'deleted', 'erasing', 'erased']),
  ownerUid: z.string(),
  title: z.string().optional(),
  archived: z.boolean().optional(),
  pinned: z.boolean().optional(),
  /** The title was made by a model, of the turns up to this one; absent: it is the user's own. */
  autoTitle: z.object({ throughSeq: z.number().int().positive() }).optional(),
  systemInstruction: z.string().optional(),
  /** What a server of the app says of this conversation alone, behind the system instruction; no user writes it. */
  serverInstruction: z.string().optional(),
  /** The functions that the app runs (`readClientTools`). */
  toolsJson: z.string().optional(),
  model: z.string(),
  profile: profileSchema,
  settings: conversationSettingsSchema,
  metadata: z.record(z.string(), z.string()),
  createTime: z.date(),
  updateTime: z.date(),
  generation: z.number().int().nonnegative().max(GENERATION_MAX),
  coveredThrough: coveredThroughSchema,
  lastSeq: z.number().int().nonnegative().max(SEQ_MAX),
  /** Where the sweep finds the times of this conversation document (`pickSweepShard`); absent until the first turn. */
  sweepShard: z.number().int().nonnegative().optional(),
  /**
   * The turn that is being answered or waits for the app; later turns may stand behind it. `leaseUntil`: as it began;
   * only the turn's own is renewed.
   */
  open: z
    .object({
      seq: z.number().int().positive(),
      leaseUntil: z.date(),
      /** For the app, which has to answer calls. */
      isWaiting: z.boolean().optional(),
    })
    .optional(),
  /** The last question, and the last turn that has ended: what the inbox shows. */
  asked: lastMessageSchema.optional(),
  answered: lastAnswerSchema.optional(),
  /** What devices that were away have to forget. */
  erasedTurns: erasedTurnsSchema.optional(),
  /**
   * Messages that wait (`onBusy: queue`): the turns from `first` to `lastSeq`.
   * `leaseUntil`: until then a waiter surely waits with `first`.
   */
  queue: z.object({ first: z.number().int().positive(), leaseUntil: z.date() }).optional(),
  /**
   * Until when the producer of a turn that was closed with its conversation may still append to its stream: an erasure
   * waits for that.
   */
  appendsUntil: z.date().optional(),
  /** Generation of the last change to a finished turn; what caches loaded before is stale. */
  changedIn: z.number().int().nonnegative(),
  /**
   * Turns up to this one stand in the index of recall as they count now; an edit of one of them takes it back. Absent
   * = 0.
   */
  indexedThrough: z.number().int().nonnegative().optional(),
  /** Turns whose content has been erased and may still stand in earlier histories and chunks. */
  pendingErasure: z
    .object({
      since: z.date(),
      seqs: z.array(z.number().int()),
      /** Statements that repeat what those turns said, whatever turns they cite: ids by generation. */
      items: z
        .array(z.object({ generation: z.number().int(), ids: z.array(z.string()) }))
        .optional(),
    })
    .optional(),
  /** Soft delete: since when, and when the sweep erases for good. */
  deleteTime: z.date().optional(),
  purgeTime: z.date().optional(),
  /** The sweep erases the conversation after this time; of a tombstone: after which the sweep drops it. */
  expireTime: z.date().optional(),
  /** The message up to which another conversation was copied. */
  forkedFrom: z.object({ conversationId: z.string(), seq: z.number().int() }).optional(),
  context: contextMeterSchema,
  /** What was learned of the threshold from compactions by hand (`learnShift`). Absent: nothing. */
  thresholdShift: z.number().optional(),
  pins: z.array(pinSchema),
  /** Ids of pins that their owner deleted, the oldest first: a late copy of a request does not bring one back. */
  deletedPins: z.array(z.string()).optional(),
  /**
   * Notes of the owner's memory up to this revision stand in the prefix of the prompt, newer ones with the
   * message: set at creation and by every swap, so that the prefix keeps its bytes in between. Absent = 0.
   */
  memoryRevision: z.number().int().nonnegative().optional(),
  /** Absent: no message has named a time zone or a locale. */
  client: knownClientSchema.optional(),
  compactionRequests: compactionRequestsSchema,
  /**
   * Id of the request that was taken off last. With the generation it names what `jobs/compaction` tells of the
   * past, so that an instance that knows it need not read it again. Absent: none was.
   */
  settledRequest: z.string().optional(),
});
export type Conversation = z.infer<typeof conversationSchema>;

/** A document together with the update time that guards its next change. */
export interface Versioned<T> {
  value: T;
  updateTime: string;
  /** What of it cannot be read, by field: it is left out, or something stands in for it. Absent: nothing. */
  problems?: ReadonlyMap<string, string> | undefined;
}

/** A conversation without content, of which nothing is folded and whose context is not measured. */
const blankConversation = (time: Date): Conversation => ({
  schemaVersion: 1,
  epoch: '',
  state: 'live',
  ownerUid: '',
  model: '',
  profile: 'assistant',
  settings: {},
  metadata: {},
  createTime: time,
  updateTime: time,
  generation: 0,
  coveredThrough: nothingCovered,
  lastSeq: 0,
  changedIn: 0,
  context: {
    tokens: 0,
    overheadTokens: 0,
    calibration: 1,
    source: 'estimated',
    generation: 0,
    seq: 0,
  },
  pins: [],
  compactionRequests: {},
});

/** As `decodeConversation`, for who needs no more than whose it is: never refuses what cannot be read. */
export function decodeAnyConversation({
  path,
  fields,
  updateTime,
}: StoredDocument): Versioned<Conversation> {
  refuseNewer({ path, fields });
  return {
    ...readWhole<Conversation>(conversationSchema, fields, blankConversation(new Date(0))),
    updateTime,
  };
}

/**
 * Reads a conversation document. A field that cannot be read is left out, or something stands in for it.
 * Throws NewerDocumentError, and UnreadableConversationError where nothing can.
 */
export function decodeConversation(document: StoredDocument): Versioned<Conversation> {
  const conversation = decodeAnyConversation(document);
  const problem = unreadableConversationText(conversation.problems);
  if (problem === undefined) return conversation;
  const { ownerUid } = document.fields;
  throw new UnreadableConversationError({
    path: document.path,
    problem,
    ownerUid: typeof ownerUid === 'string' ? ownerUid : undefined,
  });
}

/** Without one of these it is not known whose conversation it is, how far it is, or what of it may be shown. */
const ESSENTIAL_FIELDS = [
  'epoch',
  'state',
  'ownerUid',
  'model',
  'generation',
  'coveredThrough',
  'lastSeq',
  'changedIn',
  'pendingErasure',
];

/** What is wrong with a conversation document that cannot be read; undefined: nothing that matters. */
export const unreadableConversationText = (
  problems: ReadonlyMap<string, string> | undefined,
): string | undefined => problemsOfFields(problems, ESSENTIAL_FIELDS);

interface UnreadableConversation {
  path: string;
  /** Fields and what is wrong with them. */
  problem: string;
  ownerUid: string | undefined;
}

/**
 * A conversation document that says nothing any more that the service could go on with. Its documents stay as they are;
 * it can be deleted and erased, for which nothing but its id and its owner is needed.
 */
export class UnreadableConversationError extends AppError {
  readonly path: string;
  /** No other user may learn that it is there. */
  readonly ownerUid: string | undefined;

  constructor({ path, problem, ownerUid }: UnreadableConversation) {
    super({
      reason: 'CONVERSATION_UNREADABLE',
      message: `${path} cannot be read: ${problem}`,
      publicMessage:
        'What is stored of this conversation cannot be read any more. Its messages are kept: whoever runs the service can mend it. It can be deleted.',
    });
    this.path = path;
    this.ownerUid = ownerUid;
  }
}

/** A conversation document for a conversation that begins now; the caller adds what the user asked for. */
export function newConversation(start: {
  epoch: string;
  ownerUid: string;
  model: string;
  profile: Conversation['profile'];
  systemInstruction: string | undefined;
  /** Of the owner's memory as it is now; default: there is none. */
  memoryRevision?: number;
  now: Date;
}): Conversation {
  const { memoryRevision = 0, now } = start;
  return {
    ...blankConversation(now),
    epoch: start.epoch,
    ownerUid: start.ownerUid,
    systemInstruction: start.systemInstruction,
    model: start.model,
    profile: start.profile,
    ...(memoryRevision > 0 && { memoryRevision }),
  };
}

/** How long an erased id stays taken, in milliseconds: longer than any client repeats a message. */
const TOMBSTONE_MS = 30 * 24 * 60 * 60_000;

/** A conversation document without content, which keeps the id taken until `expireTime`. */
export const tombstone = (generation: number, now: Date): Conversation => ({
  ...blankConversation(now),
  state: 'erased',
  expireTime: new Date(now.getTime() + TOMBSTONE_MS),
  generation,
  changedIn: generation,
});

/** The last step of erasing: what is left is no document but this, which the sweep drops in its time. */
export function tombstoneWrite(
  conversationId: string,
  conversation: { generation: number; updateTime: string },
  now: Date,
): Write {
  const fields = { ...tombstone(conversation.generation, now) };
  return {
    op: 'update',
    path: conversationPath(conversationId),
    fields,
    remove: Object.keys(conversationSchema.shape).filter((name) => !(name in fields)),
    guard: { updateTime: conversation.updateTime },
  };
}

/**
 * Into so many shards the times of all conversations are divided. Firestore takes 500 writes a second to a
 * collection whose documents have sequential values in one index ("Sharded timestamps" in its documentation), and
 * a turn writes its conversation document twice: ten shards are 2,500 turns a second.
 */
const SWEEP_SHARDS = 10;

/** Every shard, for a sweep that looks into all of them. */
export const sweepShards: readonly number[] = Array.from(
  { length: SWEEP_SHARDS },
  (_, shard) => shard,
);

/** The shard of a conversation, always the same; ids of any form are spread evenly. */
export function pickSweepShard(conversationId: string): number {
  let hash = 0;
  for (let i = 0; i < conversationId.length; i++)
    hash = (hash * 31 + conversationId.charCodeAt(i)) % 1_000_003;
  return hash % SWEEP_SHARDS;
}
