import type { Head } from './head.ts';
import type { MessageGuard } from './message-guard.ts';
import { isTerminal, type TurnDocument } from './turn.ts';

/** After this many attempts an unanswered turn is closed as failed instead of taken over. */
export const MAX_ATTEMPTS = 3;

/** What a send found in the store, and who asks. */
export interface StartFacts {
  now: Date;
  uid: string;
  bodyHash: string;
  head: Head | undefined;
  guard: MessageGuard | undefined;
  /** The turn that the guard names. */
  known: TurnDocument['value'] | undefined;
  /** The turn that `head.open` names. */
  open: TurnDocument['value'] | undefined;
}

export type StartDecision =
  /** The conversation is not there, or not this caller's: the same answer for both. */
  | { kind: 'notFound' }
  /** The message id is known with another body. */
  | { kind: 'keyReused'; seq: number }
  /** The answer stands; no model call. */
  | { kind: 'replay'; seq: number }
  /** Someone is answering this message now. */
  | { kind: 'attach'; seq: number; attempt: number }
  /** This message has no answer and nobody works on it: the same turn, next attempt. */
  | { kind: 'takeOver'; seq: number; attempt: number }
  /** It failed, and the time after which another try makes sense has not passed: no attempt is spent. */
  | { kind: 'retryLater'; seq: number; retryAfterMs: number }
  /** Given up after MAX_ATTEMPTS: close it as failed, then replay that. */
  | { kind: 'giveUp'; seq: number }
  /** Another message is being answered. */
  | { kind: 'busy'; seq: number; retryAfterMs: number }
  /** A new turn; `closeExpired` names an abandoned open turn that the same batch must close. */
  | { kind: 'start'; seq: number; closeExpired?: number };

const isRetryableFailure = (turn: TurnDocument['value']) =>
  turn.state === 'failed' && turn.error?.retryable === true;

const remainingWaitMs = (turn: TurnDocument['value'], now: Date) =>
  (turn.finishTime?.getTime() ?? 0) + (turn.error?.retryAfterMs ?? 0) - now.getTime();

function decideKnown(facts: StartFacts, head: Head, turn: TurnDocument['value']): StartDecision {
  const { seq, attempt } = turn;
  if (facts.guard?.bodyHash !== facts.bodyHash) return { kind: 'keyReused', seq };
  if (isRetryableFailure(turn) && seq === head.lastSeq && attempt < MAX_ATTEMPTS) {
    const waitMs = remainingWaitMs(turn, facts.now);
    return waitMs > 0
      ? { kind: 'retryLater', seq, retryAfterMs: waitMs }
      : { kind: 'takeOver', seq, attempt: attempt + 1 };
  }
  if (isTerminal(turn.state)) return { kind: 'replay', seq };
  if (turn.leaseUntil > facts.now) return { kind: 'attach', seq, attempt };
  return attempt < MAX_ATTEMPTS
    ? { kind: 'takeOver', seq, attempt: attempt + 1 }
    : { kind: 'giveUp', seq };
}

/**
 * What a send does, from what it read: attach or create. A duplicate never becomes a second turn, and a
 * known message is never refused but for another body under the same id.
 */
export function decideStart(facts: StartFacts): StartDecision {
  const { head, known, open, now } = facts;
  if (head === undefined) return { kind: 'start', seq: 1 };
  if (head.state !== 'live' || head.ownerUid !== facts.uid) return { kind: 'notFound' };
  if (known !== undefined) return decideKnown(facts, head, known);
  const next = head.lastSeq + 1;
  if (open === undefined || isTerminal(open.state)) return { kind: 'start', seq: next };
  if (open.leaseUntil > now)
    return {
      kind: 'busy',
      seq: open.seq,
      retryAfterMs: Math.max(1_000, Math.min(open.leaseUntil.getTime() - now.getTime(), 5_000)),
    };
  return { kind: 'start', seq: next, closeExpired: open.seq };
}
