import type { DocumentFields, Write } from '#shared/ports/ports.ts';
import type { UnansweredReason } from '../context/tool-calls.ts';
import type { Content } from '#shared/models/content.ts';
import { type LastAnswer, lastAnswer, newestAnswer } from '../documents/last-message.ts';
import { turnPath } from '../documents/paths.ts';
import {
  encodeAnswer,
  withWholePairs,
  type Rounds,
  type Turn,
  type TurnDocument,
  type TurnError,
} from '../documents/turn.ts';
import { replacedField, type Replacement } from './replacement.ts';

/** A turn that no producer or waiter holds any more, as it was read. */
export interface AbandonedTurn {
  seq: number;
  updateTime: string;
  /** Its user had asked to stop it: then it ends as cancelled. */
  cancelRequested?: boolean | undefined;
  /** What its answer had come to, where its user had asked to stop it. */
  partial?: PartialAnswer | undefined;
  /** Its tool calls and their responses: the next prompt shows them. */
  rounds?: Rounds | undefined;
  /** Of a turn that waited for the app: why its calls get no answer. */
  unansweredReason?: UnansweredReason | undefined;
  /** As the turn document says; its `inContext` becomes that. */
  foldedInContext?: boolean | undefined;
  /** The turn that the same batch puts in its place. */
  replacedBy?: number | undefined;
}

/** The fields of a turn that decide how it is closed. */
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
    unansweredReason: value.leaseUntil <= now ? 'expired' : 'cancelled_by_user',
  }),
});

/** What an attempt had said before its turn was closed. */
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

/** How an abandoned turn ends. */
type AbandonedEnd =
  | {
      state: 'cancelled';
      /** Absent: the answer had not begun, or is not stored any more. */
      partial?: PartialAnswer | undefined;
      lastFrameId?: number;
      /** Of a turn to whose stream its producer may still append: frames after this one do not count. */
      shownThrough?: number | undefined;
      /** Default: the user stopped it. */
      unanswered?: UnansweredReason | undefined;
    }
  | { state: 'failed'; error: TurnError };

/** Retryable: a client that sends the same message again gets its answer after all. */
const retryableFailure: AbandonedEnd = {
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

/** An abandoned turn, and how it ends. */
export type ClosingTurn = Omit<AbandonedTurn, 'cancelRequested' | 'partial'> & {
  end: AbandonedEnd;
};

const partialOf = ({ end }: ClosingTurn) => (end.state === 'cancelled' ? end.partial : undefined);

/**
 * Whether the closed turn stands in the context: where it said something or called tools, or as it was folded. Not
 * where another turn takes its place.
 */
export const staysInContext = (closing: ClosingTurn): boolean =>
  (closing.foldedInContext ?? (partialOf(closing) !== undefined || closing.rounds !== undefined)) &&
  closing.replacedBy === undefined;

/** What the conversation document says of a closed turn. */
export const closedAs = (closing: ClosingTurn, now: Date): LastAnswer =>
  lastAnswer(
    { seq: closing.seq, state: closing.end.state },
    partialOf(closing)?.contents ?? [],
    now,
  );

/** The turn as readers of the context find it once it is closed. */
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

/** Ends a turn, whether it is running, queued or waits for the app, if it is unchanged since it was read. */
export function closeTurnWrites(
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
        // A producer that comes back must see that it has lost the turn.
        producer: '',
        finishTime: now,
        inContext: staysInContext(closing),
        ...(replacedBy !== undefined && replacedField(replacedBy)),
        ...(partial && { tokens: partial.tokens }),
        ...answer?.fields,
      },
      // It was the end of the stream when the turn paused. The stream of the closed turn ends with other frames.
      ...(closing.unansweredReason && { remove: ['lastFrameId'] }),
      guard: { updateTime },
    },
    ...(answer?.writes ?? []),
  ];
}

function endOf({ cancelRequested, partial, unansweredReason }: AbandonedTurn): AbandonedEnd {
  if (unansweredReason) return { state: 'cancelled', unanswered: unansweredReason };
  return cancelRequested === true ? { state: 'cancelled', partial } : retryableFailure;
}

/**
 * An abandoned turn with its end: cancelled where its user asked for that or it waited for the app, else failed
 * retryably.
 */
export const toClosingTurn = (turn: AbandonedTurn): ClosingTurn => ({ ...turn, end: endOf(turn) });

/** What the conversation document says of the last answer when a batch closes turns; `before`: what it said. */
export function newestClosed(
  abandoned: readonly AbandonedTurn[],
  now: Date,
  before: LastAnswer | undefined,
): { answered?: LastAnswer } {
  const newest = abandoned.toSorted((a, b) => a.seq - b.seq).at(-1);
  return newest ? { answered: newestAnswer(before, closedAs(toClosingTurn(newest), now)) } : {};
}

/** Ends abandoned turns as `toClosingTurn` says, so that the next one may begin. */
export const closeAbandonedWrites = (
  conversationId: string,
  batch: { abandoned: readonly AbandonedTurn[]; now: Date },
): Write[] =>
  batch.abandoned.flatMap((turn) =>
    closeTurnWrites(conversationId, { ...toClosingTurn(turn), now: batch.now }),
  );

/** The abandoned turns as the batch of turn `seq` ends them: those that it replaces say so. */
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
