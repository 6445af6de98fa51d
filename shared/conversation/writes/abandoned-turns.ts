import { isHeld, queueAfter } from '../start-decision.ts';
import type { DocumentFields, Write } from '#shared/ports/ports.ts';
import type { UnansweredReason } from '../context/tool-calls.ts';
import type { Content } from '#shared/models/content.ts';
import type { Conversation, Versioned } from '../documents/conversation.ts';
import { turnPath, conversationPath } from '../documents/paths.ts';
import {
  encodeAnswer,
  withWholePairs,
  type Rounds,
  type Turn,
  type TurnDocument,
  type TurnError,
  isTerminal,
} from '../documents/turn.ts';
import { replacedField, type Replacement } from './replacement.ts';

/** A turn that nobody holds any more, as it was read. */
export interface AbandonedTurn {
  seq: number;
  updateTime: string;
  /** Its user had asked to stop it: then it ends as cancelled. */
  cancelRequested?: boolean | undefined;
  /** What had been said of an answer that its user had asked to stop. */
  partial?: PartialAnswer | undefined;
  /** Its tool calls and what came of them: the model has to know of those. */
  rounds?: Rounds | undefined;
  /** It waited for the app: why it does no more. */
  waited?: UnansweredReason | undefined;
  /** As the turn says it: then it ends so. */
  foldedInContext?: boolean | undefined;
  /** The turn that the same batch puts in its place. */
  replacedBy?: number | undefined;
}

/** What of a turn decides how it is closed, whoever does it. */
export const abandonedFields = (
  { value, updateTime }: TurnDocument,
  now: Date,
): Omit<AbandonedTurn, 'partial' | 'replacedBy'> => ({
  seq: value.seq,
  updateTime,
  cancelRequested: value.cancelRequested,
  rounds: value.rounds,
  foldedInContext: value.foldedInContext,
  ...(value.state === 'awaiting_tool' && {
    waited: value.leaseUntil <= now ? 'expired' : 'cancelled_by_user',
  }),
});

/** What an attempt had said when nobody answered any more. */
export interface PartialAnswer {
  attempt: number;
  /** Id of the last frame of its stream that counts. */
  throughId: number;
  /** Names this store of the answer, where there was one before. */
  step?: number | undefined;
  contents: readonly Content[];
  /** Estimated tokens, as a turn has them. */
  tokens: { user: number; answer: number };
}

/** How a turn ends that nobody holds. */
type AbandonedEnd =
  | {
      state: 'cancelled';
      /** Absent: nothing was said, or it is not stored any more. */
      partial?: PartialAnswer | undefined;
      lastFrameId?: number;
      /** Of a turn that its producer may still append to: what it appends from now on does not count. */
      shownThrough?: number | undefined;
      /** Default: the user stopped it. */
      unanswered?: UnansweredReason | undefined;
    }
  | { state: 'failed'; error: TurnError };

/** A phone that comes back with the same message gets its answer after all. */
const failedForNow: AbandonedEnd = {
  state: 'failed',
  error: {
    status: 'UNAVAILABLE',
    reason: 'TURN_ABANDONED',
    message: 'The answer was interrupted and not resumed in time. Send the same message again.',
    retryable: true,
  },
};

const unansweredOf = (end: AbandonedEnd): UnansweredReason =>
  end.state === 'failed' ? 'interrupted' : (end.unanswered ?? 'cancelled_by_user');

function endFields(end: AbandonedEnd): DocumentFields {
  const unanswered = unansweredOf(end);
  return end.state === 'failed'
    ? { state: 'failed', error: { ...end.error }, unanswered }
    : {
        state: 'cancelled',
        cancelRequested: true,
        lastFrameId: end.lastFrameId,
        shownThrough: end.shownThrough,
        unanswered,
      };
}

/** A turn that nobody answers, and how it ends. */
export type ClosingTurn = Omit<AbandonedTurn, 'cancelRequested' | 'partial'> & {
  end: AbandonedEnd;
};

const partialOf = ({ end }: ClosingTurn) => (end.state === 'cancelled' ? end.partial : undefined);

/** It is in the context as far as something was said or done, or as it was folded. */
export const staysInContext = (closing: ClosingTurn): boolean =>
  (closing.foldedInContext ?? (partialOf(closing) !== undefined || closing.rounds !== undefined)) &&
  closing.replacedBy === undefined;

/** An open turn as it stands in the context, or does not, once it is closed. */
export function closedTurn(turn: Turn, closing: ClosingTurn): Turn {
  const { end } = closing;
  const partial = partialOf(closing);
  return withWholePairs({
    ...turn,
    state: end.state,
    unanswered: unansweredOf(end),
    inContext: staysInContext(closing),
    ...(partial && { tokens: partial.tokens, contents: [...partial.contents] }),
  });
}

/** Ends a turn that nobody answers, running, queued or waiting, under the update time with which it was read. */
export function endAbandonedWrites(
  conversationId: string,
  closing: ClosingTurn & { now: Date },
): Write[] {
  const { seq, updateTime, replacedBy, end, now } = closing;
  const partial = partialOf(closing);
  const answer = partial && encodeAnswer({ conversationId, seq, ...partial }, partial.contents);
  return [
    {
      op: 'update',
      path: turnPath(conversationId, seq),
      fields: {
        ...endFields(end),
        // Nobody's any more: a producer that comes back must see that the turn is lost to it.
        producer: '',
        finishTime: now,
        inContext: staysInContext(closing),
        ...(replacedBy !== undefined && replacedField(replacedBy)),
        ...(partial && { tokens: partial.tokens }),
        ...answer?.fields,
      },
      // The stream ended where the turn began to wait; it ends otherwise now.
      ...(closing.waited && { remove: ['lastFrameId'] }),
      guard: { updateTime },
    },
    ...(answer?.writes ?? []),
  ];
}

function endOf({ cancelRequested, partial, waited }: AbandonedTurn): AbandonedEnd {
  if (waited) return { state: 'cancelled', unanswered: waited };
  return cancelRequested === true ? { state: 'cancelled', partial } : failedForNow;
}

/** An abandoned turn with the end that its user would have it come to. */
export const toClosingTurn = (turn: AbandonedTurn): ClosingTurn => ({ ...turn, end: endOf(turn) });

/** Ends abandoned turns as their users would have them end, so that the next one may begin. */
export const closeAbandonedWrites = (
  conversationId: string,
  batch: { abandoned: readonly AbandonedTurn[]; now: Date },
): Write[] =>
  batch.abandoned.flatMap((turn) =>
    endAbandonedWrites(conversationId, { ...toClosingTurn(turn), now: batch.now }),
  );

/** Abandoned turns as the batch of turn `seq` ends them, which may stand in for some of them. */
export const abandonedBefore = (
  seq: number,
  batch: {
    abandoned: readonly AbandonedTurn[];
    replacement?: Pick<Replacement, 'fromSeq'> | undefined;
  },
): AbandonedTurn[] =>
  batch.abandoned.map((turn) =>
    batch.replacement && turn.seq >= batch.replacement.fromSeq
      ? { ...turn, replacedBy: seq }
      : turn,
  );

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
  unfinished: UnfinishedTurns,
  waiting: readonly TurnDocument[],
): SweptTurns['conversation'] | undefined {
  const { conversationId, conversation } = unfinished;
  const isOpenOver = conversation.value.open !== undefined && !isOpenHeld(unfinished);
  const isQueueOver =
    conversation.value.queue !== undefined && (waiting.length > 0 || !unfinished.queue.length);
  if (!isOpenOver && !isQueueOver) return undefined;
  const next = queueAfter(
    unfinished.queue.map(({ value }) => value),
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
export function sweptTurns(unfinished: UnfinishedTurns): SweptTurns | undefined {
  const { now, open, partial } = unfinished;
  const waiting = abandonedInQueue(unfinished);
  const conversation = conversationWrite(unfinished, waiting);
  if (!conversation) return undefined;
  const ending = [...(open && !isOpenHeld(unfinished) ? [open] : []), ...waiting].filter(
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
