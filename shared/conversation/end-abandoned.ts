import type { DocumentFields, Write } from '../ports.ts';
import type { Content } from './content.ts';
import { turnPath } from './paths.ts';
import { replacedField } from './replaced-by.ts';
import type { Replacement } from './replacement-writes.ts';
import { encodeAnswer, type TurnError } from './turn.ts';

/** A turn that nobody holds any more, as it was read. */
export interface AbandonedTurn {
  seq: number;
  updateTime: string;
  /** Its user had asked to stop it: then it ends as cancelled. */
  cancelRequested?: boolean | undefined;
  /** Nothing follows it yet: a phone that comes back with the same message gets its answer after all. */
  mayRetry?: boolean | undefined;
  /** What had been said of an answer that its user had asked to stop. */
  partial?: PartialAnswer | undefined;
  /** The turn that the same batch puts in its place. */
  replacedBy?: number | undefined;
}

/** What an attempt had said when nobody answered any more. */
export interface PartialAnswer {
  attempt: number;
  contents: readonly Content[];
  /** Estimated tokens, as a turn has them. */
  tokens: { user: number; answer: number };
}

/** How a turn ends that nobody holds. */
export type AbandonedEnd =
  | {
      state: 'cancelled';
      /** Absent: nothing was said, or it is not stored any more. */
      partial?: PartialAnswer | undefined;
      lastFrameId?: number;
    }
  | { state: 'failed'; error: TurnError };

const failed: AbandonedEnd = {
  state: 'failed',
  error: {
    status: 'FAILED_PRECONDITION',
    reason: 'TURN_ABANDONED',
    message:
      'The answer was interrupted and not resumed in time. Send the text as a new message, with a new id.',
    retryable: false,
  },
};

const failedForNow: AbandonedEnd = {
  state: 'failed',
  error: {
    status: 'UNAVAILABLE',
    reason: 'TURN_ABANDONED',
    message: 'The answer was interrupted and not resumed in time. Send the same message again.',
    retryable: true,
  },
};

function endFields(end: AbandonedEnd): DocumentFields {
  switch (end.state) {
    case 'failed':
      return { state: 'failed', error: { ...end.error } };
    case 'cancelled':
      return { state: 'cancelled', cancelRequested: true, lastFrameId: end.lastFrameId };
  }
}

/**
 * Ends a turn that nobody answers, running or queued, under the update time with which it was read. It is
 * in the context as far as something was said.
 */
export function endAbandonedWrites(
  conversationId: string,
  turn: Pick<AbandonedTurn, 'seq' | 'updateTime' | 'replacedBy'> & { end: AbandonedEnd; now: Date },
): Write[] {
  const { seq, updateTime, replacedBy, end, now } = turn;
  const partial = end.state === 'cancelled' ? end.partial : undefined;
  const answer =
    partial && encodeAnswer({ conversationId, seq, attempt: partial.attempt }, partial.contents);
  return [
    {
      op: 'update',
      path: turnPath(conversationId, seq),
      fields: {
        ...endFields(end),
        // Nobody's any more: a producer that comes back must see that the turn is lost to it.
        producer: '',
        finishTime: now,
        inContext: partial !== undefined && replacedBy === undefined,
        ...(replacedBy !== undefined && replacedField(replacedBy)),
        ...(partial && { tokens: partial.tokens }),
        ...answer?.fields,
      },
      guard: { updateTime },
    },
    ...(answer?.writes ?? []),
  ];
}

function endOf({ cancelRequested, mayRetry, partial }: AbandonedTurn): AbandonedEnd {
  if (cancelRequested === true) return { state: 'cancelled', partial };
  return mayRetry === true ? failedForNow : failed;
}

/** Ends abandoned turns as their users would have them end, so that the next one may begin. */
export const closeAbandonedWrites = (
  conversationId: string,
  batch: { abandoned: readonly AbandonedTurn[]; now: Date },
): Write[] =>
  batch.abandoned.flatMap((turn) =>
    endAbandonedWrites(conversationId, { ...turn, end: endOf(turn), now: batch.now }),
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
