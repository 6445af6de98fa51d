import type { Conversation, Versioned } from '#shared/conversation/documents/conversation.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { type TurnDocument, isTerminal } from '#shared/conversation/documents/turn.ts';
import { isHeld, queueAfter } from '#shared/conversation/start-decision.ts';
import {
  type AbandonedTurn,
  type PartialAnswer,
  abandonedFields,
} from '#shared/conversation/writes/abandoned-turns.ts';
import type { DocumentFields, Write } from '#shared/ports/ports.ts';

/**
 * The turns of a conversation that may be abandoned: the open one, and those that `conversation.queue` spans, in
 * order.
 */
export interface UnfinishedTurns {
  conversationId: string;
  now: Date;
  conversation: Versioned<Conversation>;
  open: TurnDocument | undefined;
  /** What the answer of the open turn had come to, where its user asked to stop it. */
  partial?: PartialAnswer | undefined;
  queue: readonly TurnDocument[];
}

/** A turn without a document is not held. */
const isOpenHeld = ({ open, now }: UnfinishedTurns) =>
  open !== undefined && isHeld(open.value, now);

/** The turns at the head of the queue, up to the first that a waiter holds; ended ones are among them. */
function abandonedInQueue({ queue, now }: UnfinishedTurns): TurnDocument[] {
  const held = queue.findIndex(({ value }) => isHeld(value, now));
  return queue.slice(0, held === -1 ? undefined : held);
}

/** What the batch changes of the conversation document; undefined when that stays as it is. */
function conversationWrite(
  unfinished: UnfinishedTurns,
  unheld: readonly TurnDocument[],
): SweptTurns['conversation'] | undefined {
  const { conversationId, conversation } = unfinished;
  const isOpenOver = conversation.value.open !== undefined && !isOpenHeld(unfinished);
  const isQueueOver =
    conversation.value.queue !== undefined && (unheld.length > 0 || !unfinished.queue.length);
  if (!isOpenOver && !isQueueOver) return undefined;
  const next = queueAfter(
    unfinished.queue.map(({ value }) => value),
    unheld.at(-1)?.value.seq ?? 0,
  );
  const fields: DocumentFields = isQueueOver && next ? { queue: { ...next } } : {};
  const remove = [...(isOpenOver ? ['open'] : []), ...(isQueueOver && !next ? ['queue'] : [])];
  const guard = { updateTime: conversation.updateTime };
  return { op: 'update', path: conversationPath(conversationId), fields, remove, guard };
}

/** How the sweep closed a turn. */
export interface ClosedTurn {
  seq: number;
  attempt: number;
  state: 'failed' | 'cancelled';
  replaces: number | undefined;
}

/** What the batch of a sweep writes, and which turns it ends. */
export interface SweptTurns {
  conversation: Extract<Write, { op: 'update' }>;
  abandoned: AbandonedTurn[];
  closed: ClosedTurn[];
}

/**
 * What the sweep writes to close the abandoned turns; undefined when there are none. The update times of the turns and
 * of the conversation document guard the batch: it fails if a turn is taken over, or the queue moves, meanwhile.
 */
export function sweptTurns(unfinished: UnfinishedTurns): SweptTurns | undefined {
  const { now, open, partial } = unfinished;
  const unheld = abandonedInQueue(unfinished);
  const conversation = conversationWrite(unfinished, unheld);
  if (!conversation) return undefined;
  const ending = [...(open && !isOpenHeld(unfinished) ? [open] : []), ...unheld].filter(
    ({ value }) => !isTerminal(value.state),
  );
  const abandoned = ending.map((turn) => ({
    ...abandonedFields(turn, now),
    partial: turn === open ? partial : undefined,
  }));
  const closed = ending.map(({ value: { seq, attempt, state, cancelRequested, replaces } }) => ({
    seq,
    attempt,
    state:
      cancelRequested === true || state === 'awaiting_tool'
        ? ('cancelled' as const)
        : ('failed' as const),
    replaces,
  }));
  return { conversation, abandoned, closed };
}
