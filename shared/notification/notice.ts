import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { isTerminal, type TurnDocument, type Notice } from '#shared/conversation/documents/turn.ts';
import type { TurnRested } from './published-event.ts';

/** How long whoever sends is left alone: two tries at FCM and three calls of the store, with room. */
export const NOTICE_LEASE_MS = 45_000;

/** A notification about an answer of yesterday is of no use: FCM gives it up as well. */
export const NOTICE_TTL_SECONDS = 24 * 60 * 60;

type NoticeDecision =
  /** Nothing is to be sent, now or later. */
  | { kind: 'none'; reason: string }
  /** Somebody sends, or FCM asked to be left alone. */
  | { kind: 'wait'; waitMs: number }
  | { kind: 'send'; told: readonly string[] };

/** Which end or pause of a turn an event is about: what a notice knows it again by. */
export const restPlace = (event: TurnRested): Pick<Notice, 'attempt' | 'round'> => ({
  attempt: event.attempt,
  ...(event.type === 'turn.waiting' && { round: event.round }),
});

/** Whether the turn rests still as the event tells. */
export function restsAs(
  event: TurnRested,
  { attempt, state, rounds }: Pick<TurnDocument['value'], 'attempt' | 'state' | 'rounds'>,
): boolean {
  if (attempt !== event.attempt) return false;
  return event.type === 'turn.waiting'
    ? state === 'awaiting_tool' && rounds?.count === event.round
    : isTerminal(state);
}

const none = (reason: string): NoticeDecision => ({ kind: 'none', reason });

/** Why nobody is to be told of this end or pause of a turn, or undefined. */
function whyNot(
  event: TurnRested,
  {
    conversation,
    turn,
    now,
  }: { conversation: Conversation; turn: TurnDocument['value']; now: Date },
): string | undefined {
  if (conversation.state !== 'live') return 'NOT_LIVE';
  if (turn.eraseTime !== undefined) return 'ERASED';
  if (!restsAs(event, turn)) return 'GOES_ON';
  if (turn.state === 'cancelled') return 'CANCELLED';
  if (turn.replacedBy !== undefined) return 'REPLACED';
  if (turn.state === 'awaiting_tool') return turn.leaseUntil > now ? undefined : 'STALE';
  const endedMs = (turn.finishTime ?? turn.createTime).getTime();
  if (now.getTime() - endedMs > NOTICE_TTL_SECONDS * 1_000) return 'STALE';
  return undefined;
}

/**
 * Whether the owner's devices are to be told of the end of a turn, or of its pause, from the documents as they are now: an
 * event may come twice, late, and after its conversation has gone.
 */
export function decideNotice(
  event: TurnRested,
  found: {
    conversation: Conversation | undefined;
    turn: TurnDocument['value'] | undefined;
    now: Date;
  },
): NoticeDecision {
  const { conversation, turn, now } = found;
  if (event.isAttended) return none('ATTENDED');
  if (!conversation || !turn) return none('NOT_FOUND');
  const reason = whyNot(event, { conversation, turn, now });
  if (reason !== undefined) return none(reason);
  const { attempt, round } = restPlace(event);
  const isSame = turn.notice?.attempt === attempt && turn.notice.round === round;
  const notice = isSame ? turn.notice : undefined;
  if (notice?.state === 'sent') return none('SENT');
  if (notice && notice.until > now)
    return { kind: 'wait', waitMs: notice.until.getTime() - now.getTime() };
  return { kind: 'send', told: notice?.told ?? [] };
}
