import type { Shrinkage } from '#shared/conversation/context/sent-view.ts';
import { type ToolCall, callId, findCalls } from '#shared/conversation/context/tool-calls.ts';
import { isOfApp, waitingCalls } from '#shared/conversation/context/tool-results.ts';
import { type Content, contentText, hasFunctionCall } from '#shared/models/content.ts';
import { answerId, turnId } from '#shared/conversation/documents/paths.ts';
import type { Rounds, Turn, TurnError } from '#shared/conversation/documents/turn.ts';
import { findRoundLimit, loopKind } from '#shared/conversation/call-loop.ts';
import { cutHead } from '#shared/text/cut.ts';
import { toFinishReason } from '#shared/models/finish-reason.ts';
import {
  earlierPartIds,
  firstFrameId,
  highestFrameId,
  partIds,
  textPartId,
} from '#shared/conversation/frame-ids.ts';
import type { ContextObject } from '#shared/wire/resources/context-object.ts';
import type { StreamChunk, StreamFrame } from '#shared/wire/resources/streams.ts';
import { leftOutFilesView, usageView } from '#shared/wire/resources/turns.ts';
import { searchedView, sourcesView } from '#shared/wire/sources.ts';
import { SHOWN_BEGINNING_CHARACTERS, SHOWN_MAX_BYTES } from '../tools/tool-response.ts';

/** The first chunks of an attempt; a later attempt says first which parts of the earlier ones to drop. */
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
 * Id of the last frame of a finished turn. A turn that its producer did not finish ends with the highest id of its
 * attempt: its last id is not known, and no reader may take the end for a frame that it has.
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

/** The notices that ask the user to allow calls that still wait: a new reader gets them, too. */
const approvalChunks = (turn: Turn): StreamChunk[] =>
  waitingCalls(turn)
    .filter(({ index }) => turn.rounds?.asks?.includes(index) === true)
    .map((call) => approvalChunk(turn, call));

/**
 * The chunks of a turn's contents in groups, one for each call of the model, with the id of its last frame where that
 * is known.
 */
function contentGroups(turn: Turn): { chunks: StreamChunk[]; lastId: number | undefined }[] {
  const groups = contentChunks(turn);
  groups.at(-1)?.push(...approvalChunks(turn));
  return groups.map((chunks, round) => ({ chunks, lastId: turn.rounds?.frames[round] }));
}

/**
 * Groups of chunks as frames. Ids are counted back from the last id of all, and in a group from its own last id where
 * that is known.
 */
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
 * The frames of a finished turn, or of one that waits for the app, made of the stored turn: each text is one delta. The
 * first frames, the last ones of each round and the last ones of all have the ids of the live stream, so that a reader
 * can go on after any of them.
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
 * The end of a turn that its producer did not finish, for a reader who has seen more of it than is stored: drops what
 * the reader has, then says what is stored.
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

/** The turn of the calls, and which of them the app answers. */
interface CallsOwner {
  seq: number;
  rounds?: Pick<Rounds, 'app'> | undefined;
}

/** A value as a frame shows it: of one that no chunk of the stream would hold, its beginning. */
function shown(value: unknown): unknown {
  const json = JSON.stringify(value) ?? 'null';
  const sizeBytes = Buffer.byteLength(json);
  if (sizeBytes <= SHOWN_MAX_BYTES) return value;
  return { truncated: true, sizeBytes, beginning: cutHead(json, SHOWN_BEGINNING_CHARACTERS) };
}

const named = (owner: CallsOwner, call: ToolCall) => ({
  toolCallId: callId(owner.seq, call.index),
  ...(!isOfApp(owner, call) && { providerExecuted: true as const }),
  dynamic: true as const,
});

/** What a response says in the stream: its `output` alone where that is all. */
const outputOf = (response: Record<string, unknown>): unknown =>
  'output' in response && Object.keys(response).length === 1 ? response['output'] : response;

/** A call as the stream shows it before it runs. */
export const callChunk = (owner: CallsOwner, call: ToolCall): StreamChunk => ({
  type: 'tool-input-available',
  ...named(owner, call),
  toolName: call.name,
  input: shown(call.args),
});

/** That a tool waits for the user's word. */
export const approvalChunk = ({ seq }: CallsOwner, { index, name }: ToolCall): StreamChunk => ({
  type: 'data-notice',
  id: `approval-${callId(seq, index)}`,
  data: { kind: 'approval', callId: callId(seq, index), toolName: name },
});

/** The response of a call as the stream shows it; nothing while there is none. */
export function responseChunks(owner: CallsOwner, call: ToolCall): StreamChunk[] {
  const { response } = call;
  if (response === undefined) return [];
  const { error } = response;
  return typeof error === 'string'
    ? [{ type: 'tool-output-error', ...named(owner, call), errorText: error }]
    : [{ type: 'tool-output-available', ...named(owner, call), output: shown(outputOf(response)) }];
}

/** The text of one model content as one delta. */
function textChunks(content: Content, id: string): StreamChunk[] {
  const delta = contentText(content);
  return delta === ''
    ? []
    : [
        { type: 'text-start', id },
        { type: 'text-delta', id, delta },
        { type: 'text-end', id },
      ];
}

/**
 * A turn's contents as frames would say them, one group for each call of the model: its text, its calls, and
 * their responses. A call without a response has been said all the same.
 */
export function contentChunks(
  turn: Pick<Turn, 'seq' | 'attempt'> & CallsOwner & { contents: readonly Content[] },
): StreamChunk[][] {
  const calls = findCalls(turn.contents);
  const groups: StreamChunk[][] = [];
  let next = 0;
  for (const content of turn.contents) {
    if (content.role !== 'model') continue;
    const round = groups.length;
    const count = hasFunctionCall(content)
      ? content.parts.filter(({ functionCall }) => functionCall !== undefined).length
      : 0;
    const own = calls.slice(next, (next += count));
    groups.push([
      ...(round === 0 ? [] : [{ type: 'start-step' as const }]),
      ...textChunks(content, textPartId(turn.attempt, round)),
      ...own.map((call) => callChunk(turn, call)),
      ...own.flatMap((call) => responseChunks(turn, call)),
    ]);
  }
  return groups;
}
