import type { Write } from '#shared/ports/ports.ts';
import type { Conversation, Versioned } from '../documents/conversation.ts';
import { abandonedBefore, closeAbandonedWrites, type AbandonedTurn } from './end-abandoned.ts';
import { conversationPath, messageGuardPath, turnPath } from '../documents/paths.ts';
import { replacementFields, replacementWrites, type Replacement } from './replacement-writes.ts';
import type { TurnError } from '../documents/turn.ts';
import { newTurnWrites, type Lease, type NewTurn } from './turn-writes.ts';

/** Stores a message that waits for its turn: durable and in its place at once. */
export function enqueueWrites(
  batch: NewTurn & {
    conversation: Versioned<Conversation>;
    /** `conversation.queue` with this turn in it. */
    queue: NonNullable<Conversation['queue']>;
  },
): Write[] {
  const { conversationId, seq, now, conversation, queue } = batch;
  return [
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: {
        lastSeq: seq,
        queue: { ...queue },
        updateTime: now,
        ...(batch.client && { client: { ...batch.client } }),
      },
      guard: { updateTime: conversation.updateTime },
    },
    {
      op: 'create',
      path: messageGuardPath(conversationId, batch.messageId),
      fields: { seq, bodyHash: batch.bodyHash },
    },
    ...newTurnWrites(batch, 'queued'),
  ];
}

/** Somebody goes on waiting with a queued turn, or begins to. */
export const waiterLeaseWrite = (
  conversationId: string,
  turn: { seq: number; updateTime: string; lease: Lease },
): Write => ({
  op: 'update',
  path: turnPath(conversationId, turn.seq),
  fields: { ...turn.lease },
  guard: { updateTime: turn.updateTime },
});

interface QueuedBatch {
  conversationId: string;
  seq: number;
  turnUpdateTime: string;
  conversation: Versioned<Conversation>;
  /** `conversation.queue` without this turn. */
  queue: Conversation['queue'];
  abandoned: readonly AbandonedTurn[];
  now: Date;
}

const queueFields = ({ queue }: QueuedBatch) => (queue ? { queue: { ...queue } } : {});
const queueRemoved = ({ queue }: QueuedBatch) => (queue ? [] : ['queue']);

/** The turn of a message begins that waited, or that could not begin when its turn came. */
export function beginQueuedWrites(
  batch: QueuedBatch & {
    attempt: number;
    lease: Lease;
    userTokens: number;
    model: string;
    foldedInContext?: boolean | undefined;
    replacement?: Replacement | undefined;
  },
): Write[] {
  const { conversationId, seq, attempt, lease, now, conversation, model, replacement } = batch;
  return [
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: {
        open: { seq, leaseUntil: lease.leaseUntil },
        updateTime: now,
        ...queueFields(batch),
        ...(replacement && replacementFields(replacement)),
      },
      remove: queueRemoved(batch),
      guard: { updateTime: conversation.updateTime },
    },
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

/** The turn of a waiting message came and could not begin: its message is stored, and so is why. */
export function failQueuedWrites(batch: QueuedBatch & { error: TurnError }): Write[] {
  const { conversationId, seq, now, conversation, error } = batch;
  return [
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: { updateTime: now, ...queueFields(batch) },
      remove: [...queueRemoved(batch), 'open'],
      guard: { updateTime: conversation.updateTime },
    },
    {
      op: 'update',
      path: turnPath(conversationId, seq),
      fields: { state: 'failed', finishTime: now, inContext: false, error: { ...error } },
      guard: { updateTime: batch.turnUpdateTime },
    },
    ...closeAbandonedWrites(conversationId, batch),
  ];
}
