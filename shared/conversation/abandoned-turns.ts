import type { DocumentFields, Write } from '../ports.ts';
import type { Head, Versioned } from './head.ts';
import { headPath } from './paths.ts';
import { queueAfter } from './queue-decision.ts';
import { MAX_ATTEMPTS } from './start-decision.ts';
import { closeExpiredWrite } from './turn-writes.ts';
import { isTerminal, type TurnDocument } from './turn.ts';

/** What may have been left behind: the open turn, and the turns that `head.queue` spans, in order. */
export interface LeftBehind {
  conversationId: string;
  now: Date;
  head: Versioned<Head>;
  open: TurnDocument | undefined;
  queue: readonly TurnDocument[];
}

/** A turn that somebody has in hand; without its document there is nobody. */
const isHeld = (turn: TurnDocument | undefined, now: Date) =>
  turn !== undefined && !isTerminal(turn.value.state) && turn.value.leaseUntil > now;

/** The turns at the head of the queue that nobody waits with, ended ones among them. */
function leftInQueue({ queue, now }: LeftBehind): TurnDocument[] {
  const held = queue.findIndex((turn) => isHeld(turn, now));
  return queue.slice(0, held === -1 ? undefined : held);
}

/** What the head says afterwards; undefined when it stays as it is. */
function headWrite(found: LeftBehind, left: readonly TurnDocument[]): Write | undefined {
  const { conversationId, head, now } = found;
  const isOpenLeft = head.value.open !== undefined && !isHeld(found.open, now);
  const isQueueLeft = head.value.queue !== undefined && (left.length > 0 || !found.queue.length);
  if (!isOpenLeft && !isQueueLeft) return undefined;
  const next = queueAfter(
    found.queue.map(({ value }) => value),
    left.at(-1)?.value.seq ?? 0,
  );
  const fields: DocumentFields = isQueueLeft && next ? { queue: { ...next } } : {};
  const remove = [...(isOpenLeft ? ['open'] : []), ...(isQueueLeft && !next ? ['queue'] : [])];
  const guard = { updateTime: head.updateTime };
  return { op: 'update', path: headPath(conversationId), fields, remove, guard };
}

/** An edit that never began replaced nothing: sent again under its id it would be a plain message. */
const mayRetry = ({ seq, attempt, state, replaces }: TurnDocument['value'], { lastSeq }: Head) =>
  seq === lastSeq && attempt < MAX_ATTEMPTS && !(state === 'queued' && replaces !== undefined);

/**
 * The batch that closes what was left behind, and how many turns it closes; no writes when nothing was.
 * Each turn is guarded by its update time, and the head by its own: a turn that is taken over, or a queue
 * that moves meanwhile, wins.
 */
export function closeAbandonedWrites(found: LeftBehind): { writes: Write[]; closed: number } {
  const { conversationId, now, open } = found;
  const left = leftInQueue(found);
  const write = headWrite(found, left);
  if (!write) return { writes: [], closed: 0 };
  const isOpenLeft = open !== undefined && !isHeld(open, now);
  const closing = [...(isOpenLeft ? [open] : []), ...left].filter(
    ({ value }) => !isTerminal(value.state),
  );
  const closes = closing.map(({ value, updateTime }) =>
    closeExpiredWrite(conversationId, {
      seq: value.seq,
      updateTime,
      cancelRequested: value.cancelRequested,
      mayRetry: mayRetry(value, found.head.value),
      now,
    }),
  );
  return { writes: [write, ...closes], closed: closes.length };
}
