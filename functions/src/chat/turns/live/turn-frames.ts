import type { Shrinkage } from '#shared/compaction/shrunken-view.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import { answerId, turnId } from '#shared/conversation/documents/paths.ts';
import type { Turn, TurnError } from '#shared/conversation/documents/turn.ts';
import { loopKind, findRoundLimit } from '#shared/loops/loop-reasons.ts';
import type { ContextObject } from '#shared/wire/resources/context-object.ts';
import { earlierPartIds, firstFrameId, highestFrameId, partIds } from '#shared/wire/frame-ids.ts';
import { searchedView, sourcesView } from '#shared/wire/sources.ts';
import { leftOutFilesView, usageView } from '#shared/wire/resources/turns.ts';
import { waitingCalls } from '#shared/conversation/context/tool-results.ts';
import { approvalChunk, contentChunks } from './tool-frames.ts';
import type { StreamChunk, StreamFrame } from '#shared/wire/resources/streams.ts';
import { toFinishReason } from '#shared/wire/finish-reason.ts';

/** What an attempt begins with; a later one says first what of the earlier ones no longer holds. */
export const openingChunks = (start: {
  conversationId: string;
  seq: number;
  attempt: number;
  generation: number;
  replayed: boolean;
  /** How many rounds earlier attempts may have shown; default: none. */
  rounds?: number | undefined;
  /** The attempt goes on after a pause: nothing of it has to be dropped. */
  isResumed?: boolean;
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
  ...(start.attempt === 1 || start.isResumed === true
    ? []
    : [
        {
          type: 'data-notice' as const,
          id: `restarted-${start.attempt}` as const,
          data: {
            kind: 'restarted' as const,
            dropParts: earlierPartIds(start.attempt, start.rounds),
          },
        },
      ]),
];

/** That the answer was ended because it repeated itself. */
function loopNotice({ finishReason }: Pick<Turn, 'finishReason'>): StreamChunk[] {
  const kind = loopKind(finishReason);
  return kind === undefined
    ? []
    : [{ type: 'data-notice', id: 'loop', data: { kind: 'loop', of: kind } }];
}

/** That the model was told to answer with what there is: it had asked for more rounds of calls than it may have. */
function roundLimitNotice({ contents }: { contents: readonly Content[] }): StreamChunk[] {
  const limit = findRoundLimit(contents);
  return limit === undefined
    ? []
    : [{ type: 'data-notice', id: 'rounds', data: { kind: 'rounds', limit } }];
}

/** That the answer was given without files, which the model could not read any more. */
function leftOutNotice(turn: Pick<Turn, 'leftOutFiles'>): StreamChunk[] {
  const { leftOutFiles } = leftOutFilesView(turn);
  return leftOutFiles === undefined
    ? []
    : [{ type: 'data-notice', id: 'files', data: { kind: 'files', leftOutFiles } }];
}

/** What an answer rests on, and what Google wants shown with it; of a turn that goes on later, at its end. */
function sourceChunks(turn: Pick<Turn, 'seq' | 'state' | 'grounding'>): StreamChunk[] {
  if (turn.state === 'awaiting_tool') return [];
  const searched = searchedView(turn);
  return [
    ...sourcesView(turn).map(({ id, url, title }) => ({
      type: 'source-url' as const,
      sourceId: id,
      url,
      ...(title !== undefined && { title }),
    })),
    ...(searched
      ? [{ type: 'data-searched' as const, id: 'searched' as const, data: searched }]
      : []),
  ];
}

/**
 * What stands after the text: sources, notices (of a loop, the limit of rounds, files that were left out), the context, an
 * error if there was one, and the finish.
 */
export function closingChunks(end: {
  turn: Pick<
    Turn,
    'seq' | 'usage' | 'routing' | 'finishReason' | 'state' | 'grounding' | 'leftOutFiles'
  > & {
    contents: readonly Content[];
  };
  error: Pick<TurnError, 'message'> | undefined;
  context: ContextObject;
}): StreamChunk[] {
  const { turn, error, context } = end;
  const isCancelled = turn.state === 'cancelled';
  return [
    ...sourceChunks(turn),
    ...loopNotice(turn),
    ...roundLimitNotice(turn),
    ...leftOutNotice(turn),
    { type: 'data-context', id: 'ctx', transient: true, data: context },
    ...(isCancelled ? [{ type: 'abort' as const }] : []),
    ...(error ? [{ type: 'error' as const, errorText: error.message }] : []),
    {
      type: 'finish',
      finishReason: finishReasonView({ isCancelled, isFailed: error !== undefined, turn }),
      messageMetadata: {
        ...(turn.usage && { usage: usageView(turn.usage) }),
        ...(turn.routing && { routing: turn.routing }),
        generation: context.generation,
      },
    },
  ];
}

function finishReasonView(end: {
  isCancelled: boolean;
  isFailed: boolean;
  turn: Pick<Turn, 'finishReason' | 'state'>;
}) {
  if (end.turn.state === 'awaiting_tool') return 'tool-calls';
  if (end.isCancelled) return 'other';
  return end.isFailed ? 'error' : toFinishReason(end.turn.finishReason);
}

/**
 * Id of the last frame of a finished turn. One that its producer did not finish ends with the highest id
 * of its attempt: how far its frames went nobody knows, and no reader may take the end for an old frame.
 */
export const lastFrameIdIn = (turn: Pick<Turn, 'attempt' | 'lastFrameId'>) =>
  turn.lastFrameId ?? highestFrameId(turn.attempt);

/** The end of a finished turn, counted back from its last id. */
export function closingFrames(end: { turn: Turn; context: ContextObject }): StreamFrame[] {
  const chunks = closingChunks({ ...end, error: end.turn.error });
  return countedBack(chunks, lastFrameIdIn(end.turn));
}

const countedBack = (chunks: readonly StreamChunk[], lastId: number): StreamFrame[] =>
  chunks.map((chunk, i) => ({ id: lastId - (chunks.length - 1 - i), chunk }));

/** What still waits for the user's word: whoever comes anew is asked, too. */
const approvalChunks = (turn: Turn): StreamChunk[] =>
  waitingCalls(turn)
    .filter(({ index }) => turn.rounds?.asks?.includes(index) === true)
    .map((call) => approvalChunk(turn, call));

/** What a turn says, group by group, with the id of the last frame of each where that is known. */
function contentGroups(turn: Turn): { chunks: StreamChunk[]; lastId: number | undefined }[] {
  const groups = contentChunks(turn);
  groups.at(-1)?.push(...approvalChunks(turn));
  return groups.map((chunks, round) => ({ chunks, lastId: turn.rounds?.frames[round] }));
}

/** Groups of chunks as frames, counted back from the last id of all and from those that are known of a group. */
function groupFrames(
  groups: readonly { chunks: readonly StreamChunk[]; lastId?: number | undefined }[],
  lastId: number,
): StreamFrame[] {
  let frames: StreamFrame[] = [];
  let end = lastId;
  for (const group of groups.toReversed()) {
    end = Math.min(end, group.lastId ?? end);
    frames = [...countedBack(group.chunks, end), ...frames];
    end -= group.chunks.length;
  }
  return frames;
}

/**
 * A finished turn, or one that waits for the app, from what is stored: each text as one delta, with the ids
 * that the live stream gave to the first frames, to the last ones of each round, and to the last ones of all,
 * so that a reader can go on after any of them.
 */
export function replayFrames(replay: {
  conversationId: string;
  turn: Turn;
  context: ContextObject;
}): StreamFrame[] {
  const { conversationId, turn, context } = replay;
  const { seq, attempt } = turn;
  const { generation } = context;
  const rounds = turn.rounds?.count;
  const start = { conversationId, seq, attempt, generation, replayed: true, rounds };
  const [first, ...others] = contentGroups(turn);
  const [textStart, ...rest] = first?.chunks ?? [];
  const opening = [...openingChunks(start), ...(textStart ? [textStart] : [])];
  const closing = closingChunks({ turn, error: turn.error, context });
  return [
    ...opening.map((chunk, i) => ({ id: firstFrameId(attempt) + i, chunk })),
    ...groupFrames(
      [{ chunks: rest, lastId: first?.lastId }, ...others, { chunks: closing }],
      lastFrameIdIn(turn),
    ),
  ];
}

/**
 * The end of a turn that its producer did not finish, for a reader who has seen more of it than is stored:
 * what he has no longer holds, this does.
 */
export function correctingFrames({ turn, context }: { turn: Turn; context: ContextObject }) {
  const { attempt, error } = turn;
  return countedBack(
    [
      {
        type: 'data-notice',
        id: `restarted-${attempt}-stored`,
        data: { kind: 'restarted', dropParts: partIds(attempt, turn.rounds?.count ?? 0) },
      },
      ...contentChunks(turn).flat(),
      ...closingChunks({ turn, error, context }),
    ],
    lastFrameIdIn(turn),
  );
}
