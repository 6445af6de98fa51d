import type { DocumentFields, Write } from '../ports.ts';
import type { Content } from './content.ts';
import type { CompactionNeeded, ContextMeter, Head, Versioned } from './head.ts';
import { headPath, messageGuardPath, turnPath } from './paths.ts';
import {
  encodeAnswer,
  encodeUser,
  type Turn,
  type TurnError,
  type TurnState,
  type TurnUsage,
} from './turn.ts';

/** Whose attempt it is and until when; written with every start and renewed while it runs. */
export interface Lease {
  producer: string;
  leaseUntil: Date;
}

const answerNone = { answerJson: '[]', answerPieces: 0 };

/** Closes an abandoned turn so that the next one may open. */
export const closeExpiredWrite = (
  conversationId: string,
  turn: { seq: number; updateTime: string; now: Date },
): Write => ({
  op: 'update',
  path: turnPath(conversationId, turn.seq),
  fields: {
    state: 'failed',
    // Nobody's any more: a producer that comes back must see that the turn is lost to it.
    producer: '',
    finishTime: turn.now,
    error: {
      status: 'FAILED_PRECONDITION',
      reason: 'TURN_ABANDONED',
      message:
        'The answer was interrupted and not resumed in time. Send the text as a new message, with a new id.',
      retryable: false,
    },
    inContext: false,
  },
  guard: { updateTime: turn.updateTime },
});

export interface StartBatch {
  conversationId: string;
  messageId: string;
  bodyHash: string;
  seq: number;
  user: Content;
  retention?: Turn['retention'];
  userTokens: number;
  lease: Lease;
  now: Date;
  /** The head as read, or the head to create for the first message of a conversation. */
  head: Versioned<Head> | { create: Head };
  closeExpired?: { seq: number; updateTime: string };
}

function headStartWrite(batch: StartBatch): Write {
  const { conversationId, seq, now, lease, head } = batch;
  const fields: DocumentFields = {
    lastSeq: seq,
    open: { seq, leaseUntil: lease.leaseUntil },
    updateTime: now,
  };
  if ('create' in head)
    return {
      op: 'create',
      path: headPath(conversationId),
      fields: { ...head.create, ...fields },
    };
  return {
    op: 'update',
    path: headPath(conversationId),
    fields,
    guard: { updateTime: head.updateTime },
  };
}

/** The one batch that makes a message durable before the model is called. */
export function startWrites(batch: StartBatch): Write[] {
  const { conversationId, seq, messageId, bodyHash, lease, now } = batch;
  const user = encodeUser({ conversationId, seq }, batch.user);
  return [
    headStartWrite(batch),
    { op: 'create', path: messageGuardPath(conversationId, messageId), fields: { seq, bodyHash } },
    {
      op: 'create',
      path: turnPath(conversationId, seq),
      fields: {
        schemaVersion: 1,
        seq,
        messageId,
        state: 'running',
        attempt: 1,
        ...lease,
        createTime: now,
        tokens: { user: batch.userTokens, answer: 0 },
        retention: batch.retention,
        inContext: false,
        ...user.fields,
        ...answerNone,
      },
    },
    ...user.writes,
    ...(batch.closeExpired
      ? [closeExpiredWrite(conversationId, { ...batch.closeExpired, now })]
      : []),
  ];
}

/** The next attempt at the same turn: new producer, new lease, nothing of the old answer. */
export function takeOverWrites(batch: {
  conversationId: string;
  seq: number;
  attempt: number;
  lease: Lease;
  now: Date;
  head: Versioned<Head>;
  turnUpdateTime: string;
}): Write[] {
  const { conversationId, seq, attempt, lease, now, head } = batch;
  return [
    {
      op: 'update',
      path: headPath(conversationId),
      fields: { open: { seq, leaseUntil: lease.leaseUntil }, updateTime: now },
      guard: { updateTime: head.updateTime },
    },
    {
      op: 'update',
      path: turnPath(conversationId, seq),
      fields: { state: 'running', attempt, ...lease, inContext: false, ...answerNone },
      remove: ['error', 'finishReason', 'finishTime', 'usage'],
      guard: { updateTime: batch.turnUpdateTime },
    },
  ];
}

export interface FinishBatch {
  conversationId: string;
  seq: number;
  attempt: number;
  turnUpdateTime: string;
  state: Extract<TurnState, 'done' | 'failed' | 'cancelled'>;
  contents: readonly Content[];
  answerTokens: number;
  userTokens: number;
  inContext: boolean;
  usage?: TurnUsage;
  finishReason?: string;
  error?: TurnError;
  now: Date;
  /** The new meter; absent when the turn left the context as it was. */
  meter?: ContextMeter;
  /** Set in the same batch as the crossing, so that no crash forgets it. */
  need?: NonNullable<CompactionNeeded['auto']>;
}

/** The one batch that ends a turn. The head is updated on existence only: the turn is the guard. */
export function finishWrites(batch: FinishBatch): Write[] {
  const { conversationId, seq, attempt, now } = batch;
  const answer = encodeAnswer({ conversationId, seq, attempt }, batch.contents);
  return [
    {
      op: 'update',
      path: turnPath(conversationId, seq),
      fields: {
        state: batch.state,
        finishTime: now,
        tokens: { user: batch.userTokens, answer: batch.answerTokens },
        inContext: batch.inContext,
        usage: batch.usage && { ...batch.usage },
        finishReason: batch.finishReason,
        error: batch.error && { ...batch.error },
        ...answer.fields,
      },
      guard: { updateTime: batch.turnUpdateTime },
    },
    ...answer.writes,
    {
      op: 'update',
      path: headPath(conversationId),
      fields: {
        updateTime: now,
        ...(batch.meter && { context: { ...batch.meter } }),
        ...(batch.need && { 'compactionNeeded.auto': { ...batch.need } }),
      },
      remove: ['open'],
      guard: { exists: true },
    },
  ];
}
