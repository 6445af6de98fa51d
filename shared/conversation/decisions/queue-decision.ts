import type { Conversation } from '../documents/conversation.ts';
import { isTerminal, type TurnDocument } from '../documents/turn.ts';

/** Messages of one conversation that may wait for their turn. */
export const QUEUE_MAX = 20;

/** Turns that the queue may span, those that were cancelled while they waited included: all are read. */
export const QUEUE_SPAN_MAX = 100;

/**
 * How long those who wait leave a turn whose lease has run out to its own sender, ms: one who came back
 * follows the lease, and shall not lose to whoever waits behind.
 */
export const QUEUED_GRACE_MS = 2_000;

type TurnFields = TurnDocument['value'];

const hasLease = ({ leaseUntil }: TurnFields, now: Date, graceMs: number) =>
  leaseUntil.getTime() + graceMs > now.getTime();

/**
 * Whether somebody answers a turn, or waits with it or may be coming back to do so. One that has not ended
 * and is not held is abandoned.
 */
export const isHeld = (turn: TurnFields, now: Date): boolean =>
  !isTerminal(turn.state) && hasLease(turn, now, turn.state === 'queued' ? QUEUED_GRACE_MS : 0);

/**
 * Whether a new message has to do with a turn that it finds: not with one that only waits for the app, whose
 * calls a new message answers with `cancelled_by_user`.
 */
export const isInTheWay = (turn: TurnFields, now: Date): boolean =>
  turn.state !== 'awaiting_tool' && isHeld(turn, now);

/** The turns that `conversation.queue` spans: those that wait, and those among them that have ended meanwhile. */
export const queueSeqs = ({ queue, lastSeq }: Pick<Conversation, 'queue' | 'lastSeq'>): number[] =>
  queue
    ? Array.from({ length: Math.max(0, lastSeq - queue.first + 1) }, (_, i) => queue.first + i)
    : [];

/** What the one who waits with a queued turn found. */
export interface QueuedFacts {
  now: Date;
  conversation: Conversation | undefined;
  /** The turn that waits. */
  own: TurnFields | undefined;
  /** Nonce under which the caller waits with it. */
  producer: string;
  open: TurnFields | undefined;
  /** The turns that `conversation.queue` spans, in order. */
  queue: readonly TurnFields[];
}

export type QueuedDecision =
  /** It waits no more, or somebody else waits with it. */
  | { kind: 'gone' }
  /** Not before turn `behind` has ended, or is abandoned. */
  | { kind: 'wait'; behind: number }
  /** It is its turn; the same batch closes the abandoned turns in `abandoned`. */
  | { kind: 'beginQueued'; seq: number; attempt: number; abandoned: readonly number[] };

/** Whose turn it is: answers come in the order of seq, and nobody waits for one that is abandoned. */
export function decideQueued(facts: QueuedFacts): QueuedDecision {
  const { conversation, own, open, queue, now } = facts;
  const isMine = own?.state === 'queued' && own.producer === facts.producer;
  if (conversation?.state !== 'live' || !isMine) return { kind: 'gone' };
  const before = [...(open ? [open] : []), ...queue].filter(
    ({ seq, state }) => seq < own.seq && !isTerminal(state),
  );
  const nearest = before.findLast(
    (turn) => turn.state !== 'awaiting_tool' && hasLease(turn, now, QUEUED_GRACE_MS),
  );
  if (nearest) return { kind: 'wait', behind: nearest.seq };
  const { seq, attempt } = own;
  const abandoned = before.map((turn) => turn.seq);
  return { kind: 'beginQueued', seq, attempt, abandoned };
}

/** `conversation.queue` once the turns up to `afterSeq` wait no more; undefined when nobody else waits. */
export function queueAfter(queue: readonly TurnFields[], afterSeq: number): Conversation['queue'] {
  const first = queue.find(({ seq, state }) => seq > afterSeq && state === 'queued');
  return first && { first: first.seq, leaseUntil: first.leaseUntil };
}
