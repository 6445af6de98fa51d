import type { Repairs } from '#shared/models/repairs.ts';
import type { UnansweredReason } from '../context/tool-calls.ts';
import type { Content } from '#shared/models/content.ts';
import {
  pickSweepShard,
  type CompactionRequests,
  type ContextMeter,
  type Conversation,
  type Versioned,
} from '../documents/conversation.ts';
import {
  answeredInboxWrite,
  firstInboxWrites,
  inboxWrites,
  waitingInboxWrite,
} from '../documents/inbox.ts';
import {
  type LastAnswer,
  lastAnswer,
  lastQuestion,
  newestAnswer,
} from '../documents/last-message.ts';
import { conversationPath, messageGuardPath, turnPath } from '../documents/paths.ts';
import {
  encodeAnswer,
  encodeUser,
  type Rounds,
  type Turn,
  type TurnError,
  type TurnState,
  type TurnUsage,
} from '../documents/turn.ts';
import type { DocumentFields, Write } from '#shared/ports/ports.ts';
import {
  abandonedBefore,
  closeAbandonedWrites,
  newestClosed,
  type AbandonedTurn,
} from './abandoned-turns.ts';
import { replacementFields, replacementWrites, type Replacement } from './replacement.ts';

/** Who holds the turn, and until when: written with every start, renewed while the turn runs. */
export interface Lease {
  producer: string;
  leaseUntil: Date;
}

/** The fields of a turn without an answer. */
const noAnswer = { answerJson: '[]', answerPieces: 0 };

/** The rounds that an attempt finds and goes on from, at the step at which it stores them. */
export interface KeptRounds {
  contents: readonly Content[];
  rounds: Rounds;
}

/** A turn that is stored for the first time. */
export interface NewTurn {
  conversationId: string;
  messageId: string;
  bodyHash: string;
  seq: number;
  user: Content;
  retention?: Turn['retention'];
  options?: Turn['options'];
  /** First of the turns that this one stands in for. */
  replaces?: number | undefined;
  /** The turn whose user content this one repeats. */
  regenerates?: number | undefined;
  /** The model that answers the turn; absent while it waits in the queue. */
  model?: Turn['model'];
  /** The model that a hook chose for the turn. */
  chosenModel?: Turn['chosenModel'];
  /** Of a regeneration: the model that answered before answers again. */
  routing?: Turn['routing'];
  surroundings?: Turn['surroundings'];
  describedClient?: Turn['describedClient'];
  tools?: Turn['tools'];
  /** Present where the message brings a time zone or locale that the conversation document does not have yet. */
  client?: Conversation['client'];
  /** A server sends it for the user, who need not have read what stands before it. */
  isFromServer?: boolean;
  userTokens: number;
  lease: Lease;
  now: Date;
}

interface StartBatch extends NewTurn {
  /**
   * The conversation document as read, or the conversation document to create for the first message of a conversation.
   */
  conversation: Versioned<Conversation> | { create: Conversation };
  abandoned?: readonly AbandonedTurn[];
  replacement?: Replacement | undefined;
  /** Undefined: as the conversation has it. */
  systemInstruction?: string | undefined;
}

function conversationStartWrites(batch: StartBatch, abandoned: readonly AbandonedTurn[]): Write[] {
  const { conversationId, seq, now, lease, conversation, replacement } = batch;
  const before = 'create' in conversation ? undefined : conversation.value.answered;
  const fields = {
    lastSeq: seq,
    open: { seq, leaseUntil: lease.leaseUntil },
    asked: lastQuestion(seq, batch.user, now),
    ...newestClosed(abandoned, now, before),
    updateTime: now,
    sweepShard: pickSweepShard(conversationId),
    ...(batch.client && { client: { ...batch.client } }),
    ...(batch.systemInstruction !== undefined && { systemInstruction: batch.systemInstruction }),
  };
  const path = conversationPath(conversationId);
  if ('create' in conversation) {
    const created = { ...conversation.create, ...fields };
    return [
      { op: 'create', path, fields: created },
      ...firstInboxWrites(conversationId, created, now),
    ];
  }
  const read = batch.isFromServer ? {} : { readSeq: seq - 1, unread: false };
  const after = { ...conversation.value, ...fields };
  return [
    {
      op: 'update',
      path,
      fields: { ...fields, ...(replacement && replacementFields(replacement)) },
      // A start is decided only where no turn waits.
      remove: ['queue'],
      guard: { updateTime: conversation.updateTime },
    },
    ...inboxWrites(conversationId, after, { now, read }),
  ];
}

/** The documents of a turn that is stored for the first time. */
export function newTurnWrites(turn: NewTurn, state: 'queued' | 'running'): Write[] {
  const { conversationId, seq, messageId, lease, now } = turn;
  const user = encodeUser({ conversationId, seq }, turn.user);
  return [
    {
      op: 'create',
      path: turnPath(conversationId, seq),
      fields: {
        schemaVersion: 1,
        seq,
        messageId,
        state,
        attempt: 1,
        ...lease,
        createTime: now,
        tokens: { user: turn.userTokens, answer: 0 },
        retention: turn.retention,
        options: turn.options,
        replaces: turn.replaces,
        regenerates: turn.regenerates,
        model: turn.model,
        chosenModel: turn.chosenModel,
        routing: turn.routing && { ...turn.routing },
        surroundings: turn.surroundings,
        describedClient: turn.describedClient && { ...turn.describedClient },
        tools: turn.tools && [...turn.tools],
        inContext: false,
        ...user.fields,
        ...noAnswer,
      },
    },
    ...user.writes,
  ];
}

/** The one batch that makes a message durable before the model is called. */
export function startWrites(batch: StartBatch): Write[] {
  const { conversationId, seq, messageId, bodyHash, now } = batch;
  const { replacement } = batch;
  const abandoned = abandonedBefore(seq, { abandoned: batch.abandoned ?? [], replacement });
  return [
    ...conversationStartWrites(batch, abandoned),
    { op: 'create', path: messageGuardPath(conversationId, messageId), fields: { seq, bodyHash } },
    ...newTurnWrites(batch, 'running'),
    ...closeAbandonedWrites(conversationId, { abandoned, now }),
    ...(replacement ? replacementWrites(conversationId, { seq, abandoned, replacement }) : []),
  ];
}

/** What becomes of a turn when it ends, or waits for the app. */
export interface TurnEnd {
  conversationId: string;
  seq: number;
  attempt: number;
  /** `awaiting_tool` is no end: the turn has no producer until the app has sent its results. */
  state: Exclude<TurnState, 'queued' | 'running'>;
  /** Of a turn that waits: until when. */
  waitsUntil?: Date | undefined;
  contents: readonly Content[];
  answerTokens: number;
  userTokens: number;
  inContext: boolean;
  /** Of a turn with calls. */
  rounds?: Rounds | undefined;
  unanswered?: UnansweredReason | undefined;
  usage?: TurnUsage;
  repairs?: Repairs | undefined;
  leftOutFiles?: Turn['leftOutFiles'];
  /** Absent: the conversation is not `auto`, or is so no more. */
  routing?: Turn['routing'];
  /** Absent: nothing was brought back of folded turns. */
  recalled?: Turn['recalled'];
  grounding?: Turn['grounding'];
  finishReason?: string;
  error?: TurnError;
  now: Date;
  /** The new meter; absent when the turn left the context as it was. */
  meter?: ContextMeter;
  /** Set in the same batch as the crossing, so that no crash forgets it. */
  compactionRequest?: CompactionRequests['auto'];
}

/** The end of a turn with what its batch needs. */
interface FinishBatch extends TurnEnd {
  ownerUid: string;
  turnUpdateTime: string;
  /** The conversation document must not have changed since; absent: its existence is enough. */
  conversationUpdateTime?: string | undefined;
  /** The last answer when the turn began: later than this one where an earlier turn is answered again. */
  answeredBefore?: LastAnswer | undefined;
  /** The rest of the stream: its last chunks, and the id of the last frame. */
  stream?: { writes: readonly Write[]; lastFrameId: number };
}

/** How the turn stands, and what its user was charged with if another attempt may go on with it. */
function restFields({ state, usage, waitsUntil, now }: TurnEnd): DocumentFields {
  const settled = usage && { ...usage };
  if (waitsUntil) return { leaseUntil: waitsUntil, settled, isCounted: true };
  return { finishTime: now, ...(state === 'failed' && { settled }) };
}

/** The turn as it ends, or waits for the app: its document first, then its overflow pieces. */
export function turnEndWrites(batch: Omit<FinishBatch, 'ownerUid'>): Write[] {
  const { conversationId, seq, attempt, state, stream } = batch;
  const step = batch.rounds?.step;
  const answer = encodeAnswer({ conversationId, seq, attempt, step }, batch.contents);
  return [
    {
      op: 'update',
      path: turnPath(conversationId, seq),
      fields: {
        state,
        ...(batch.rounds && { rounds: { ...batch.rounds } }),
        ...(batch.unanswered && { unanswered: batch.unanswered }),
        ...(state === 'cancelled' && { cancelRequested: true }),
        ...restFields(batch),
        tokens: { user: batch.userTokens, answer: batch.answerTokens },
        inContext: batch.inContext,
        usage: batch.usage && { ...batch.usage },
        repairs: batch.repairs && { ...batch.repairs },
        leftOutFiles: batch.leftOutFiles,
        routing: batch.routing && { ...batch.routing },
        recalled: batch.recalled && { ...batch.recalled },
        grounding: batch.grounding && { ...batch.grounding },
        finishReason: batch.finishReason,
        error: batch.error && { ...batch.error },
        ...(stream && { lastFrameId: stream.lastFrameId }),
        ...answer.fields,
      },
      remove: (['routing', 'recalled', 'grounding'] as const).filter((field) => !batch[field]),
      guard: { updateTime: batch.turnUpdateTime },
    },
    ...answer.writes,
  ];
}

/**
 * The one batch that ends a turn, or lets it wait for the app. The turn is the guard; the conversation document is
 * updated on existence only, unless the turn relies on what it read there.
 */
export function finishWrites(batch: FinishBatch): Write[] {
  const { conversationId, seq, state, now } = batch;
  const answered =
    state === 'awaiting_tool' ? undefined : lastAnswer({ seq, state }, batch.contents, now);
  const newest = answered && newestAnswer(batch.answeredBefore, answered);
  return [
    ...turnEndWrites(batch),
    ...(batch.stream?.writes ?? []),
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: {
        updateTime: now,
        ...(batch.meter && { context: { ...batch.meter } }),
        ...(batch.compactionRequest && {
          'compactionRequests.auto': { ...batch.compactionRequest },
        }),
        ...(batch.waitsUntil && {
          open: { seq, leaseUntil: batch.waitsUntil, isWaiting: true },
        }),
        // What is not newer stays as it is: it may have been erased meanwhile.
        ...(answered && newest === answered && { answered: { ...answered } }),
      },
      remove: batch.waitsUntil ? [] : ['open'],
      guard: batch.conversationUpdateTime
        ? { updateTime: batch.conversationUpdateTime }
        : { exists: true },
    },
    answered && newest
      ? answeredInboxWrite(batch, { answered, newest, now })
      : waitingInboxWrite(batch, now),
  ];
}

/** Stores a message that waits in the queue: it is durable and has its place at once. */
export function enqueueWrites(
  batch: NewTurn & {
    conversation: Versioned<Conversation>;
    /** `conversation.queue` with this turn in it. */
    queue: NonNullable<Conversation['queue']>;
  },
): Write[] {
  const { conversationId, seq, now, conversation, queue } = batch;
  const { answered, open } = conversation.value;
  const readSeq = Math.max(answered?.seq ?? 0, (open?.seq ?? 1) - 1);
  const read = batch.isFromServer ? {} : { readSeq, unread: false };
  const fields = {
    lastSeq: seq,
    queue: { ...queue },
    asked: lastQuestion(seq, batch.user, now),
    updateTime: now,
    ...(batch.client && { client: { ...batch.client } }),
  };
  return [
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields,
      guard: { updateTime: conversation.updateTime },
    },
    ...inboxWrites(conversationId, { ...conversation.value, ...fields }, { now, read }),
    {
      op: 'create',
      path: messageGuardPath(conversationId, batch.messageId),
      fields: { seq, bodyHash: batch.bodyHash },
    },
    ...newTurnWrites(batch, 'queued'),
  ];
}

/** Renews a waiter's lease on a queued turn, or gives the turn to a new waiter. */
export const waiterLeaseWrite = (
  conversationId: string,
  turn: { seq: number; updateTime: string; lease: Lease },
): Write => ({
  op: 'update',
  path: turnPath(conversationId, turn.seq),
  fields: { ...turn.lease },
  guard: { updateTime: turn.updateTime },
});

/** A change of a stored turn and of its conversation document, each under its update time. */
interface StoredTurnBatch {
  conversationId: string;
  seq: number;
  turnUpdateTime: string;
  conversation: Versioned<Conversation>;
  now: Date;
}

/** A stored turn gets a producer. */
interface ProducerBatch extends StoredTurnBatch {
  attempt: number;
  lease: Lease;
}

/**
 * The turn is open from now on: what the conversation document says of it and of the turns that the batch closes, and
 * the inbox.
 */
function openTurn(batch: ProducerBatch, abandoned: readonly AbandonedTurn[]) {
  const { conversationId, seq, lease, now, conversation } = batch;
  const fields = {
    open: { seq, leaseUntil: lease.leaseUntil },
    ...newestClosed(abandoned, now, conversation.value.answered),
    updateTime: now,
  };
  const read = 'answered' in fields ? { unread: true } : {};
  const inbox = inboxWrites(conversationId, { ...conversation.value, ...fields }, { now, read });
  return { fields, inbox };
}

interface QueuedBatch extends StoredTurnBatch {
  /** `conversation.queue` without this turn. */
  queue: Conversation['queue'];
  abandoned: readonly AbandonedTurn[];
}

const queueFields = ({ queue }: QueuedBatch) => (queue ? { queue: { ...queue } } : {});
const queueRemoved = ({ queue }: QueuedBatch) => (queue ? [] : ['queue']);

/** Begins a queued turn, or one that failed before it began. */
export function beginQueuedWrites(
  batch: QueuedBatch &
    ProducerBatch & {
      userTokens: number;
      model: string;
      systemInstruction?: string | undefined;
      foldedInContext?: boolean | undefined;
      replacement?: Replacement | undefined;
    },
): Write[] {
  const { conversationId, seq, attempt, lease, now, conversation, model, replacement } = batch;
  const { systemInstruction } = batch;
  const opened = openTurn(batch, batch.abandoned);
  return [
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: {
        ...opened.fields,
        ...(systemInstruction !== undefined && { systemInstruction }),
        ...queueFields(batch),
        ...(replacement && replacementFields(replacement)),
      },
      remove: queueRemoved(batch),
      guard: { updateTime: conversation.updateTime },
    },
    ...opened.inbox,
    {
      op: 'update',
      path: turnPath(conversationId, seq),
      fields: {
        state: 'running',
        attempt,
        ...lease,
        model,
        tokens: { user: batch.userTokens, answer: 0 },
        foldedInContext: batch.foldedInContext,
      },
      remove: ['error', 'finishTime', 'unanswered'],
      guard: { updateTime: batch.turnUpdateTime },
    },
    ...closeAbandonedWrites(conversationId, { abandoned: abandonedBefore(seq, batch), now }),
    ...(replacement ? replacementWrites(conversationId, { ...batch, replacement }) : []),
  ];
}

/** Ends a queued turn that could not begin. */
export function failQueuedWrites(batch: QueuedBatch & { error: TurnError }): Write[] {
  const { conversationId, seq, now, conversation, error } = batch;
  const answered = newestAnswer(
    conversation.value.answered,
    lastAnswer({ seq, state: 'failed' }, [], now),
  );
  const after = { ...conversation.value, answered, open: undefined };
  return [
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: { answered, updateTime: now, ...queueFields(batch) },
      remove: [...queueRemoved(batch), 'open'],
      guard: { updateTime: conversation.updateTime },
    },
    ...inboxWrites(conversationId, after, { now, read: { unread: true } }),
    {
      op: 'update',
      path: turnPath(conversationId, seq),
      fields: { state: 'failed', finishTime: now, inContext: false, error: { ...error } },
      guard: { updateTime: batch.turnUpdateTime },
    },
    ...closeAbandonedWrites(conversationId, batch),
  ];
}

/** What becomes of the answer of the attempt before: its rounds stay, what it said after them goes. */
function answerAfterTakeOver(
  turn: { conversationId: string; seq: number; attempt: number },
  kept: KeptRounds | undefined,
): { fields: DocumentFields; writes: Write[]; stale: string[] } {
  if (!kept)
    return {
      fields: noAnswer,
      writes: [],
      stale: ['usage', 'rounds', 'answerName', 'settled', 'grounding', 'leftOutFiles'],
    };
  const { rounds } = kept;
  const { fields, writes } = encodeAnswer({ ...turn, step: rounds.step }, kept.contents);
  return { fields: { ...fields, rounds }, writes, stale: [] };
}

/** Fields that the end of an attempt leaves in a turn. */
const fieldsOfAnEnd = [
  'error',
  'finishReason',
  'finishTime',
  'repairs',
  'lastFrameId',
  'cancelRequested',
  'leftAt',
  'feedback',
  'unanswered',
];

/** Begins the next attempt at a turn: a new producer, a new lease, and of the answer so far only the rounds. */
export function takeOverWrites(
  batch: ProducerBatch & {
    model: string;
    routing: Turn['routing'];
    kept?: KeptRounds | undefined;
    /**
     * Where this turn had failed: the turns that the batch closes. Absent: it is the open turn, and others may wait
     * behind it.
     */
    abandoned?: readonly AbandonedTurn[] | undefined;
    foldedInContext: boolean | undefined;
  },
): Write[] {
  const { conversationId, seq, attempt, lease, now, conversation, model, routing } = batch;
  const answer = answerAfterTakeOver(batch, batch.kept);
  const opened = openTurn(batch, batch.abandoned ?? []);
  const stale = [
    ...fieldsOfAnEnd,
    ...(batch.foldedInContext === undefined ? ['foldedInContext'] : []),
    ...(routing ? [] : ['routing']),
    ...answer.stale,
  ];
  return [
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: opened.fields,
      // A failed turn is answered again only where no turn waits.
      ...(batch.abandoned && { remove: ['queue'] }),
      guard: { updateTime: conversation.updateTime },
    },
    ...opened.inbox,
    {
      op: 'update',
      path: turnPath(conversationId, seq),
      fields: {
        state: 'running',
        attempt,
        ...lease,
        model,
        ...(routing && { routing: { ...routing } }),
        inContext: false,
        foldedInContext: batch.foldedInContext,
        ...answer.fields,
      },
      remove: stale,
      guard: { updateTime: batch.turnUpdateTime },
    },
    ...answer.writes,
    ...closeAbandonedWrites(conversationId, { abandoned: batch.abandoned ?? [], now }),
  ];
}

/** Goes on with the same attempt under a new producer: the app has answered all that the turn waited for. */
export function resumeWrites(
  batch: ProducerBatch & {
    kept: KeptRounds;
    /** The model that goes on: another than before where that one is retired. Absent: none was noted. */
    model: string | undefined;
    /** Pieces of the answer as it was stored before. */
    obsolete: readonly string[];
  },
): Write[] {
  const { conversationId, seq, lease, conversation, kept, model } = batch;
  const answer = encodeAnswer({ ...batch, step: kept.rounds.step }, kept.contents);
  const opened = openTurn(batch, []);
  return [
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: opened.fields,
      guard: { updateTime: conversation.updateTime },
    },
    ...opened.inbox,
    {
      op: 'update',
      path: turnPath(conversationId, seq),
      fields: {
        state: 'running',
        ...lease,
        ...(model !== undefined && { model }),
        rounds: { ...kept.rounds },
        ...answer.fields,
      },
      // Its stream has no end again.
      remove: ['lastFrameId'],
      guard: { updateTime: batch.turnUpdateTime },
    },
    ...answer.writes,
    ...batch.obsolete.map((path) => ({ op: 'delete' as const, path })),
  ];
}
