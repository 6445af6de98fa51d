import type { Shrinkage } from '../../../../shared/compaction/shrunken-view.ts';
import { contentText } from '../../../../shared/conversation/content.ts';
import { answerId, turnId } from '../../../../shared/conversation/paths.ts';
import type { Turn, TurnError } from '../../../../shared/conversation/turn.ts';
import type { ContextObject } from '../../../../shared/wire/context-object.ts';
import {
  earlierPartIds,
  firstFrameId,
  highestFrameId,
  textPartId,
} from '../../../../shared/wire/frame-ids.ts';
import { usageView } from '../../../../shared/wire/views.ts';
import {
  finishReasonOf,
  type StreamChunk,
  type StreamFrame,
} from '../../../../shared/wire/stream.ts';

/** What an attempt begins with; a later one says first what of the earlier ones no longer holds. */
export const openingChunks = (start: {
  conversationId: string;
  seq: number;
  attempt: number;
  generation: number;
  replayed: boolean;
  /** Of a prompt that left something out; a replay does not know. */
  shrinkage?: Shrinkage | undefined;
}): StreamChunk[] => [
  {
    type: 'start',
    messageId: answerId(start.seq),
    messageMetadata: {
      turnId: turnId(start.seq),
      conversationId: start.conversationId,
      generation: start.generation,
      replayed: start.replayed,
      ...(start.shrinkage && { shrunken: start.shrinkage }),
    },
  },
  ...(start.attempt === 1
    ? []
    : [
        {
          type: 'data-notice' as const,
          id: `restarted-${start.attempt}` as const,
          data: { kind: 'restarted' as const, dropParts: earlierPartIds(start.attempt) },
        },
      ]),
];

/** What stands after the text: the context, an error if there was one, and the finish. */
export function closingChunks(end: {
  turn: Pick<Turn, 'usage' | 'finishReason' | 'state'>;
  error: Pick<TurnError, 'message'> | undefined;
  context: ContextObject;
}): StreamChunk[] {
  const { turn, error, context } = end;
  const isCancelled = turn.state === 'cancelled';
  return [
    { type: 'data-context', id: 'ctx', transient: true, data: context },
    ...(isCancelled ? [{ type: 'abort' as const }] : []),
    ...(error ? [{ type: 'error' as const, errorText: error.message }] : []),
    {
      type: 'finish',
      finishReason: finishReasonView({ isCancelled, isFailed: error !== undefined, turn }),
      messageMetadata: {
        ...(turn.usage && { usage: usageView(turn.usage) }),
        generation: context.generation,
      },
    },
  ];
}

function finishReasonView(end: {
  isCancelled: boolean;
  isFailed: boolean;
  turn: Pick<Turn, 'finishReason'>;
}) {
  if (end.isCancelled) return 'other';
  return end.isFailed ? 'error' : finishReasonOf(end.turn.finishReason);
}

/**
 * Id of the last frame of a finished turn. One that its producer did not finish ends with the highest id
 * of its attempt: how far its frames went nobody knows, and no reader may take the end for an old frame.
 */
export const lastFrameIdOf = (turn: Pick<Turn, 'attempt' | 'lastFrameId'>) =>
  turn.lastFrameId ?? highestFrameId(turn.attempt);

/** The text of a finished turn as one delta. */
const textChunks = (turn: Pick<Turn, 'contents' | 'attempt'>) => {
  const delta = turn.contents.map(contentText).join('');
  const id = textPartId(turn.attempt);
  return delta === ''
    ? { opening: [], closing: [] }
    : {
        opening: [{ type: 'text-start', id }] satisfies StreamChunk[],
        closing: [
          { type: 'text-delta', id, delta },
          { type: 'text-end', id },
        ] satisfies StreamChunk[],
      };
};

/** The end of a finished turn, counted back from its last id. */
export function closingFrames(end: { turn: Turn; context: ContextObject }): StreamFrame[] {
  const chunks = closingChunks({ ...end, error: end.turn.error });
  return countedBack(chunks, lastFrameIdOf(end.turn));
}

const countedBack = (chunks: readonly StreamChunk[], lastId: number): StreamFrame[] =>
  chunks.map((chunk, i) => ({ id: lastId - (chunks.length - 1 - i), chunk }));

/**
 * A finished turn from what is stored: the text as one delta, with the ids that the live stream gave to
 * the first frames and to the last ones, so that a reader can go on after any of them.
 */
export function replayFrames(replay: {
  conversationId: string;
  turn: Turn;
  context: ContextObject;
}): StreamFrame[] {
  const { conversationId, turn, context } = replay;
  const { seq, attempt } = turn;
  const start = { conversationId, seq, attempt, generation: context.generation, replayed: true };
  const text = textChunks(turn);
  const opening = [...openingChunks(start), ...text.opening];
  const closing = [...text.closing, ...closingChunks({ turn, error: turn.error, context })];
  return [
    ...opening.map((chunk, i) => ({ id: firstFrameId(attempt) + i, chunk })),
    ...countedBack(closing, lastFrameIdOf(turn)),
  ];
}

/**
 * The end of a turn that its producer did not finish, for a reader who has seen more of it than is stored:
 * what he has no longer holds, this does.
 */
export function correctingFrames({ turn, context }: { turn: Turn; context: ContextObject }) {
  const { attempt, error } = turn;
  const text = textChunks(turn);
  return countedBack(
    [
      {
        type: 'data-notice',
        id: `restarted-${attempt}-stored`,
        data: { kind: 'restarted', dropParts: [textPartId(attempt)] },
      },
      ...text.opening,
      ...text.closing,
      ...closingChunks({ turn, error, context }),
    ],
    lastFrameIdOf(turn),
  );
}
