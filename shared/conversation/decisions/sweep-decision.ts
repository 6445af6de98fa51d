import type { DocumentFields, Write } from '#shared/ports/ports.ts';
import type { Conversation, Versioned } from '../documents/conversation.ts';
import { conversationPath } from '../documents/paths.ts';
import { isHeld, queueAfter } from './queue-decision.ts';
import {
  abandonedFields,
  type AbandonedTurn,
  type PartialAnswer,
} from '../writes/end-abandoned.ts';
import { isTerminal, type TurnDocument } from '../documents/turn.ts';

/** What may be abandoned of a conversation: the open turn, and the turns that `conversation.queue` spans, in order. */
export interface UnfinishedTurns {
  conversationId: string;
  now: Date;
  conversation: Versioned<Conversation>;
  open: TurnDocument | undefined;
  /** What the open turn had said, where its user asked to stop it. */
  partial?: PartialAnswer | undefined;
  queue: readonly TurnDocument[];
}

/** Without its document nobody holds a turn. */
const isOpenHeld = ({ open, now }: UnfinishedTurns) =>
  open !== undefined && isHeld(open.value, now);

/** The turns at the head of the queue that nobody waits with, ended ones among them. */
function abandonedInQueue({ queue, now }: UnfinishedTurns): TurnDocument[] {
  const held = queue.findIndex(({ value }) => isHeld(value, now));
  return queue.slice(0, held === -1 ? undefined : held);
}

/** What the conversation document says afterwards; undefined when it stays as it is. */
function conversationWrite(
  found: UnfinishedTurns,
  waiting: readonly TurnDocument[],
): SweptTurns['conversation'] | undefined {
  const { conversationId, conversation } = found;
  const isOpenOver = conversation.value.open !== undefined && !isOpenHeld(found);
  const isQueueOver =
    conversation.value.queue !== undefined && (waiting.length > 0 || !found.queue.length);
  if (!isOpenOver && !isQueueOver) return undefined;
  const next = queueAfter(
    found.queue.map(({ value }) => value),
    waiting.at(-1)?.value.seq ?? 0,
  );
  const fields: DocumentFields = isQueueOver && next ? { queue: { ...next } } : {};
  const remove = [...(isOpenOver ? ['open'] : []), ...(isQueueOver && !next ? ['queue'] : [])];
  const guard = { updateTime: conversation.updateTime };
  return { op: 'update', path: conversationPath(conversationId), fields, remove, guard };
}

/** A turn that the sweep closes, and how. */
export interface ClosedTurn {
  seq: number;
  attempt: number;
  state: 'failed' | 'cancelled';
  replaces: number | undefined;
}

/** The batch of a sweep that ends abandoned turns. */
export interface SweptTurns {
  conversation: Extract<Write, { op: 'update' }>;
  abandoned: AbandonedTurn[];
  closed: ClosedTurn[];
}

/**
 * What closes the abandoned turns, and which these are; undefined when there are none. Each turn is guarded by its
 * update time, and the conversation document by its own: a turn that is taken over, or a queue that moves meanwhile,
 * wins.
 */
export function sweptTurns(found: UnfinishedTurns): SweptTurns | undefined {
  const { now, open, partial } = found;
  const waiting = abandonedInQueue(found);
  const conversation = conversationWrite(found, waiting);
  if (!conversation) return undefined;
  const ending = [...(open && !isOpenHeld(found) ? [open] : []), ...waiting].filter(
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
