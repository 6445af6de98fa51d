import type { Conversation, OnBusy } from './documents/conversation.ts';
import { type MessageGuard, isTerminal, type TurnDocument } from './documents/turn.ts';
import { isReplaced } from './writes/replacement.ts';

/** After this many attempts an unanswered turn is closed as failed instead of taken over, and then rests. */
const MAX_ATTEMPTS = 3;

/**
 * How long a turn rests after an attempt that failed, once it has had MAX_ATTEMPTS, ms: a message that ends every
 * process which answers it must not end one after the other.
 */
export const RESTING_MS = 60_000;

/** Turns that one edit replaces at most: all of them change in the one batch that starts the new turn. */
export const REPLACED_MAX = 400;

/** Messages of one conversation that may wait in the queue. */
export const QUEUE_MAX = 20;

/** Turns that the queue may span, those that were cancelled while they waited included: all are read. */
export const QUEUE_SPAN_MAX = 100;

/**
 * How long after its lease ran out a turn is still not overtaken by the messages that wait behind it, ms: its sender
 * may be coming back.
 */
export const OVERTAKE_GRACE_MS = 2_000;

/**
 * How long the messages that wait behind a turn leave the app to answer its calls, ms. The next of them then begins, and
 * cancels the calls as a message that is sent now does.
 */
export const APP_ANSWERS_FIRST_MS = 30_000;

/** A compaction takes seconds, ms. */
const COMPACTING_RETRY_MS = 5_000;

type TurnFields = TurnDocument['value'];

/** What an edit or a regeneration puts a new turn in the place of. */
export interface ReplacingFacts {
  kind: 'edit' | 'regenerate';
  /** The turn of the message that was named; absent when there is none, or what it says was erased. */
  target: TurnFields | undefined;
  /** The message was named as an answer (`m_<seq>`). */
  isAnswer: boolean;
}

/** What a send found in the store, and who asks. */
export interface StartFacts {
  now: Date;
  uid: string;
  bodyHash: string;
  conversation: Conversation | undefined;
  guard: MessageGuard | undefined;
  /** The turn that the guard names. */
  known: TurnFields | undefined;
  /** The turn that `conversation.open` names. */
  open: TurnFields | undefined;
  /** The turns that `conversation.queue` spans, in order; those that ended meanwhile too. */
  queue: readonly TurnFields[];
  /** What the caller asked for; absent: as the conversation is set. */
  onBusy?: OnBusy | undefined;
  /** The caller only reads the known turn: it takes over an abandoned one, and answers no failed one again. */
  isReader?: boolean | undefined;
  replacing?: ReplacingFacts | undefined;
}

export type StartDecision =
  /** The conversation is not there, or not this caller's: the same answer for both. */
  | { kind: 'notFound' }
  /** The message id is known with another body, or what stands under it cannot be read. */
  | { kind: 'keyReused'; seq: number }
  /** The answer stands; no model call. */
  | { kind: 'replay'; seq: number }
  /** A producer is answering this message now. */
  | { kind: 'attach'; seq: number; attempt: number }
  /** The turn of this message is abandoned: the same turn, next attempt. */
  | { kind: 'takeOver'; seq: number; attempt: number }
  /**
   * The turn of this message failed retryably after it had begun: the same turn, next attempt. Its batch also closes
   * the turns in `closes`.
   */
  | { kind: 'answerAgain'; seq: number; attempt: number; closes: readonly number[] }
  /** The turn of this message failed before it began. */
  | Extract<QueuedDecision, { kind: 'beginQueued' }>
  /** The turn of this message failed, and it is too early for another try: no attempt is spent. */
  | { kind: 'retryLater'; seq: number; retryAfterMs: number }
  /** The turn has had MAX_ATTEMPTS, or has waited for the app for too long: close it, then decide again. */
  | { kind: 'giveUp'; seq: number }
  /** This message waits in the queue, and another request waits with it. */
  | { kind: 'waiting'; seq: number }
  /** This message waits in the queue, and no request waits with it: the caller becomes its waiter. */
  | { kind: 'rejoin'; seq: number }
  /** Another message is being answered. */
  | { kind: 'busy'; seq: number; retryAfterMs: number }
  /** Another message is being answered, and no more may wait. */
  | { kind: 'queueFull'; seq: number; retryAfterMs: number }
  /** Another message is being answered: this one is stored and waits. */
  | { kind: 'enqueue'; seq: number; replaces?: number }
  /** Other messages are being answered or wait: they are cancelled, the newest first. */
  | { kind: 'interrupt'; seqs: readonly number[]; retryAfterMs: number }
  /** A new turn. Its batch also closes the turns in `closes`. */
  | { kind: 'start'; seq: number; closes: readonly number[]; replaces?: number }
  /** The message to replace is not there. */
  | { kind: 'targetNotFound' }
  /** An answer was to be edited. */
  | { kind: 'notUserMessage' }
  /** Only the last answer can be made anew. */
  | { kind: 'notLastAnswer'; lastSeq: number }
  /** Another message has taken the place of the one to edit: what goes on from it is another branch. */
  | { kind: 'messageReplaced' }
  /** More turns would be replaced than one batch holds. */
  | { kind: 'tooFarBack'; replaced: number };

/**
 * What a send does, from what it read: attach or create. A duplicate never becomes a second turn, and a
 * known message is never refused but for another body under the same id. No message overtakes one that waits in the
 * queue.
 */
export function decideStart(facts: StartFacts): StartDecision {
  const { conversation, known } = facts;
  if (conversation === undefined)
    return facts.replacing ? { kind: 'notFound' } : { kind: 'start', seq: 1, closes: [] };
  if (conversation.state !== 'live' || conversation.ownerUid !== facts.uid)
    return { kind: 'notFound' };
  if (known !== undefined) return decideKnown(facts, conversation, known);
  // A guard that cannot be read names no turn. Its id is taken, and no later send can change that.
  if (facts.guard !== undefined) return { kind: 'keyReused', seq: facts.guard.seq };
  const { refusal, replaces } = decideReplacing(facts, conversation);
  if (refusal) return refusal;
  const { working, closes } = unfinishedTurns(facts);
  const [first] = working;
  const replacing = replaces !== undefined && { replaces };
  if (first) return decideBusy(facts, { conversation, working, first, ...replacing });
  return { kind: 'start', seq: conversation.lastSeq + 1, closes, ...replacing };
}

/** What a send does whose message has a turn already. */
function decideKnown(
  facts: StartFacts,
  conversation: Conversation,
  turn: TurnFields,
): StartDecision {
  const { seq, attempt } = turn;
  // An erased message keeps its id and no hash: any message under this id gets the empty turn again.
  const hash = facts.guard?.bodyHash;
  if (hash !== '' && hash !== facts.bodyHash) return { kind: 'keyReused', seq };
  if (turn.eraseTime !== undefined) return { kind: 'replay', seq };
  if (isRetryableFailure(turn)) return decideFailed(facts, conversation, turn);
  if (isTerminal(turn.state)) return { kind: 'replay', seq };
  // No grace: this is its own sender.
  const hasLease = isLeasedAt(turn, facts.now);
  if (turn.state === 'queued') return { kind: hasLease ? 'waiting' : 'rejoin', seq };
  if (turn.state === 'awaiting_tool') return { kind: hasLease ? 'replay' : 'giveUp', seq };
  if (hasLease) return { kind: 'attach', seq, attempt };
  return attempt < MAX_ATTEMPTS
    ? { kind: 'takeOver', seq, attempt: attempt + 1 }
    : { kind: 'giveUp', seq };
}

/**
 * A message whose turn failed retryably is answered in its place when it is sent again, also where later turns stand
 * behind it, as soon as no other turn is working.
 */
function decideFailed(
  facts: StartFacts,
  conversation: Conversation,
  turn: TurnFields,
): StartDecision {
  const { seq, attempt, model } = turn;
  if (isReplaced(turn) || facts.isReader === true) return { kind: 'replay', seq };
  // A turn notes its model when it begins. One that a quota or the window refused before that is tried again at once.
  const hasBegun = model !== undefined;
  const waitMs = hasBegun ? remainingWaitMs(turn, facts.now) : 0;
  if (waitMs > 0) return { kind: 'retryLater', seq, retryAfterMs: waitMs };
  const { working, closes } = unfinishedTurns(facts);
  const [first] = working;
  if (first) return { kind: 'busy', seq: first.seq, retryAfterMs: retryAfterMs(first, facts.now) };
  if (mayBeFolded(conversation, seq))
    return { kind: 'retryLater', seq, retryAfterMs: COMPACTING_RETRY_MS };
  return { kind: hasBegun ? 'answerAgain' : 'beginQueued', seq, attempt: attempt + 1, closes };
}

const isRetryableFailure = (turn: TurnFields) =>
  turn.state === 'failed' && turn.error?.retryable === true;

/** Never more than is asked for: the clock of the instance that wrote `finishTime` may be ahead. */
const remainingWaitMs = ({ finishTime, error, attempt }: TurnFields, now: Date) => {
  const restMs = attempt < MAX_ATTEMPTS ? 0 : RESTING_MS;
  const askedMs = Math.max(error?.retryAfterMs ?? 0, restMs);
  return Math.min(askedMs, (finishTime?.getTime() ?? 0) + askedMs - now.getTime());
};

/** Others stand behind the turn, and a worker may be folding it as a failure. */
const mayBeFolded = ({ compactionRequests, coveredThrough, lastSeq }: Conversation, seq: number) =>
  seq > coveredThrough.seq &&
  seq < lastSeq &&
  (compactionRequests.auto !== undefined || compactionRequests.manual !== undefined);

/** Why a replacement is refused, or the first turn that it replaces; `{}` for a plain message. */
function decideReplacing(
  { replacing }: StartFacts,
  conversation: Conversation,
): { refusal?: StartDecision; replaces?: number } {
  if (!replacing) return {};
  const { kind, target, isAnswer } = replacing;
  if (!target) return { refusal: { kind: 'targetNotFound' } };
  if (kind === 'edit' && isAnswer) return { refusal: { kind: 'notUserMessage' } };
  if (kind === 'regenerate' && target.seq !== conversation.lastSeq)
    return { refusal: { kind: 'notLastAnswer', lastSeq: conversation.lastSeq } };
  if (isReplaced(target)) return { refusal: { kind: 'messageReplaced' } };
  const replaced = conversation.lastSeq - target.seq + 1;
  if (replaced > REPLACED_MAX) return { refusal: { kind: 'tooFarBack', replaced } };
  return { replaces: target.seq };
}

/**
 * The turns that have not ended. `working`: a new message waits for them. `closes`: all of them; the batch of the new
 * turn closes them where none is working.
 */
function unfinishedTurns({ open, queue, now }: StartFacts) {
  const unfinished = [...(open ? [open] : []), ...queue].filter(({ state }) => !isTerminal(state));
  return {
    working: unfinished.filter((turn) => isInTheWay(turn, now)),
    closes: unfinished.map(({ seq }) => seq),
  };
}

/** What happens to a new message while the turns in `working` are being answered or wait in the queue. */
function decideBusy(
  facts: StartFacts,
  busy: {
    conversation: Conversation;
    working: readonly TurnFields[];
    first: TurnFields;
    replaces?: number;
  },
): StartDecision {
  const { conversation, working, first, replaces } = busy;
  const waitMs = retryAfterMs(first, facts.now);
  switch (facts.onBusy ?? conversation.settings.onBusy ?? 'reject') {
    case 'reject':
      return { kind: 'busy', seq: first.seq, retryAfterMs: waitMs };
    case 'interrupt':
      return {
        kind: 'interrupt',
        seqs: working.map(({ seq }) => seq).toReversed(),
        retryAfterMs: waitMs,
      };
    case 'queue': {
      const waiting = facts.queue.filter(({ state }) => state === 'queued').length;
      if (waiting >= QUEUE_MAX || facts.queue.length >= QUEUE_SPAN_MAX)
        return { kind: 'queueFull', seq: first.seq, retryAfterMs: waitMs };
      return {
        kind: 'enqueue',
        seq: conversation.lastSeq + 1,
        ...(replaces !== undefined && { replaces }),
      };
    }
  }
}

const retryAfterMs = (turn: TurnFields, now: Date) =>
  Math.max(1_000, Math.min(turn.leaseUntil.getTime() - now.getTime(), 5_000));

/* The queue: which message is answered next. */

/** What a waiter reads of the turn with which it waits, and of the turns before it. */
export interface QueuedFacts {
  now: Date;
  conversation: Conversation | undefined;
  /** The turn that waits. */
  own: TurnFields | undefined;
  /** Nonce of the waiter. */
  producer: string;
  open: TurnFields | undefined;
  /** The turns that `conversation.queue` spans, in order. */
  queue: readonly TurnFields[];
  /** How long a turn waits for the app, ms. */
  toolResultTimeoutMs: number;
}

export type QueuedDecision =
  /** The turn is not queued any more, or another waiter has it: the message is sent again to learn what came of it. */
  | { kind: 'sendAgain' }
  /** Turn `behind` must have ended, or be abandoned, before this one begins. */
  | { kind: 'wait'; behind: number }
  /** The turn begins. Its batch also closes the turns in `closes`. */
  | { kind: 'beginQueued'; seq: number; attempt: number; closes: readonly number[] };

/**
 * What a waiter does: answers come in the order of seq, and no waiter waits for an abandoned turn, or for an app that
 * does not answer.
 */
export function decideQueued(facts: QueuedFacts): QueuedDecision {
  const { conversation, own, open, queue } = facts;
  const isMine = own?.state === 'queued' && own.producer === facts.producer;
  if (conversation?.state !== 'live' || !isMine) return { kind: 'sendAgain' };
  const before = [...(open ? [open] : []), ...queue].filter(
    ({ seq, state }) => seq < own.seq && !isTerminal(state),
  );
  const nearest = before.findLast((turn) => holdsQueue(turn, facts));
  if (nearest) return { kind: 'wait', behind: nearest.seq };
  const { seq, attempt } = own;
  const closes = before.map((turn) => turn.seq);
  return { kind: 'beginQueued', seq, attempt, closes };
}

/** Whether the messages behind a turn that has not ended wait for it. */
export function holdsQueue(
  turn: TurnFields,
  { now, toolResultTimeoutMs }: Pick<QueuedFacts, 'now' | 'toolResultTimeoutMs'>,
): boolean {
  if (turn.state !== 'awaiting_tool') return isLeasedAt(turn, now, OVERTAKE_GRACE_MS);
  const askedAtMs = turn.leaseUntil.getTime() - toolResultTimeoutMs;
  return isLeasedAt(turn, now) && askedAtMs + APP_ANSWERS_FIRST_MS > now.getTime();
}

/** The turns that `conversation.queue` spans: those that wait, and those between them that have ended meanwhile. */
export const queueSeqs = ({ queue, lastSeq }: Pick<Conversation, 'queue' | 'lastSeq'>): number[] =>
  queue
    ? Array.from({ length: Math.max(0, lastSeq - queue.first + 1) }, (_, i) => queue.first + i)
    : [];

/** `conversation.queue` once the turns up to `afterSeq` wait no more; undefined when no other turn waits. */
export function queueAfter(queue: readonly TurnFields[], afterSeq: number): Conversation['queue'] {
  const first = queue.find(({ seq, state }) => seq > afterSeq && state === 'queued');
  return first && { first: first.seq, leaseUntil: first.leaseUntil };
}

/* Whether a turn is held. */

const isLeasedAt = ({ leaseUntil }: TurnFields, now: Date, graceMs = 0) =>
  leaseUntil.getTime() + graceMs > now.getTime();

/**
 * Whether a producer answers the turn, a waiter waits with it, or its sender may be coming back to wait with it. A turn
 * that has not ended and is not held is abandoned.
 */
export const isHeld = (turn: TurnFields, now: Date): boolean =>
  !isTerminal(turn.state) && isLeasedAt(turn, now, turn.state === 'queued' ? OVERTAKE_GRACE_MS : 0);

/**
 * Whether a new message has to wait for the turn, or to interrupt it. Not where the turn only waits for the app: the
 * new message answers its calls with `cancelled_by_user`.
 */
export const isInTheWay = (turn: TurnFields, now: Date): boolean =>
  turn.state !== 'awaiting_tool' && isHeld(turn, now);
