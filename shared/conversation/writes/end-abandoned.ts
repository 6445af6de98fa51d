import type { DocumentFields, Write } from '#shared/ports/ports.ts';
import type { Content } from '../documents/content.ts';
import { turnPath } from '../documents/paths.ts';
import { replacedField } from './replaced-by.ts';
import type { Replacement } from './replacement-writes.ts';
import type { UnansweredReason } from '../context/tool-calls.ts';
import { encodeAnswer } from '../documents/encode-turn.ts';
import {
  withWholePairs,
  type Rounds,
  type Turn,
  type TurnDocument,
  type TurnError,
} from '../documents/turn.ts';

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
): Pick<
  AbandonedTurn,
  'seq' | 'updateTime' | 'cancelRequested' | 'rounds' | 'waited' | 'foldedInContext'
> => ({
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
export type ClosingTurn = Pick<
  AbandonedTurn,
  'seq' | 'updateTime' | 'replacedBy' | 'rounds' | 'waited' | 'foldedInContext'
> & { end: AbandonedEnd };

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
