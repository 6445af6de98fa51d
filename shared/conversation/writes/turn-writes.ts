import type { DocumentFields, Write } from '#shared/ports/ports.ts';
import type { Content } from '../documents/content.ts';
import type {
  CompactionRequests,
  ContextMeter,
  Conversation,
  Versioned,
} from '../documents/conversation.ts';
import { abandonedBefore, closeAbandonedWrites, type AbandonedTurn } from './end-abandoned.ts';
import { conversationPath, messageGuardPath, turnPath } from '../documents/paths.ts';
import { replacementFields, replacementWrites, type Replacement } from './replacement-writes.ts';
import type { UnansweredReason } from '../context/tool-calls.ts';
import { encodeAnswer, encodeUser } from '../documents/encode-turn.ts';
import { pickSweepShard } from '../decisions/sweep-shard.ts';
import type { Rounds, Turn, TurnError, TurnState, TurnUsage } from '../documents/turn.ts';
import type { Repairs } from '../repair/repairs.ts';

/** Whose attempt it is and until when; written with every start and renewed while it runs. */
export interface Lease {
  producer: string;
  leaseUntil: Date;
}

/** The fields of a turn without an answer. */
export const answerNone = { answerJson: '[]', answerPieces: 0 };

/** What an attempt goes on from: the whole rounds of those before it. */
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
  /** Of the conversation; absent while the turn waits in the queue. */
  model?: Turn['model'];
  /** Of a regeneration: the model that answered before answers again. */
  routing?: Turn['routing'];
  surroundings?: Turn['surroundings'];
  describedClient?: Turn['describedClient'];
  /** Where the message tells of its client what the conversation document does not say yet. */
  client?: Conversation['client'];
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
}

function conversationStartWrite(batch: StartBatch): Write {
  const { conversationId, seq, now, lease, conversation, replacement } = batch;
  const fields: DocumentFields = {
    lastSeq: seq,
    open: { seq, leaseUntil: lease.leaseUntil },
    updateTime: now,
    sweepShard: pickSweepShard(conversationId),
    ...(batch.client && { client: { ...batch.client } }),
  };
  if ('create' in conversation)
    return {
      op: 'create',
      path: conversationPath(conversationId),
      fields: { ...conversation.create, ...fields },
    };
  return {
    op: 'update',
    path: conversationPath(conversationId),
    fields: { ...fields, ...(replacement && replacementFields(replacement)) },
    // Whoever starts found nobody waiting.
    remove: ['queue'],
    guard: { updateTime: conversation.updateTime },
  };
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
        routing: turn.routing && { ...turn.routing },
        surroundings: turn.surroundings,
        describedClient: turn.describedClient && { ...turn.describedClient },
        inContext: false,
        ...user.fields,
        ...answerNone,
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
    conversationStartWrite(batch),
    { op: 'create', path: messageGuardPath(conversationId, messageId), fields: { seq, bodyHash } },
    ...newTurnWrites(batch, 'running'),
    ...closeAbandonedWrites(conversationId, { abandoned, now }),
    ...(replacement ? replacementWrites(conversationId, { seq, abandoned, replacement }) : []),
  ];
}

export interface FinishBatch {
  conversationId: string;
  seq: number;
  attempt: number;
  turnUpdateTime: string;
  /** `awaiting_tool`: no end, but nobody answers until the app has done its part. */
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
  /** The conversation document must not have changed since; absent: its existence is enough. */
  conversationUpdateTime?: string | undefined;
  /** The rest of the stream: its last chunks, and the id of the last frame. */
  stream?: { writes: readonly Write[]; lastFrameId: number };
}

/** What a turn has used whose model tells no figures: that it has waited shows all the same. */
const NOTHING_USED: TurnUsage = {
  promptTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  thoughtsTokens: 0,
  costMicros: 0,
};

/**
 * The one batch that ends a turn, or lets it wait for the app. The turn is the guard; the conversation document is
 * updated on existence only, unless the turn relies on what it read there.
 */
export function finishWrites(batch: FinishBatch): Write[] {
  const { conversationId, seq, attempt, now, stream } = batch;
  const step = batch.rounds?.step;
  const answer = encodeAnswer({ conversationId, seq, attempt, step }, batch.contents);
  return [
    {
      op: 'update',
      path: turnPath(conversationId, seq),
      fields: {
        state: batch.state,
        ...(batch.rounds && { rounds: { ...batch.rounds } }),
        ...(batch.unanswered && { unanswered: batch.unanswered }),
        ...(batch.state === 'cancelled' && { cancelRequested: true }),
        ...(batch.waitsUntil
          ? { leaseUntil: batch.waitsUntil, settled: { ...(batch.usage ?? NOTHING_USED) } }
          : { finishTime: now }),
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
    ...(stream?.writes ?? []),
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: {
        updateTime: now,
        ...(batch.meter && { context: { ...batch.meter } }),
        ...(batch.compactionRequest && {
          'compactionRequests.auto': { ...batch.compactionRequest },
        }),
        ...(batch.waitsUntil && { open: { seq, leaseUntil: batch.waitsUntil } }),
      },
      remove: batch.waitsUntil ? [] : ['open'],
      guard: batch.conversationUpdateTime
        ? { updateTime: batch.conversationUpdateTime }
        : { exists: true },
    },
  ];
}
