import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { OwnConversation } from '#functions/chat/conversations/own-conversation.ts';
import { ignoreRejection } from '#functions/lib/promises.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { turnId } from '#shared/conversation/documents/paths.ts';
import { type Turn, isStreamAtEnd, isTerminal } from '#shared/conversation/documents/turn.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { Caller } from '#shared/ports/ports.ts';
import {
  conversationFrameId,
  cursorPlace,
  firstFrameId,
  placeOfCursor,
} from '#shared/conversation/frame-ids.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import { type ResumePoint, liveTurnKey, openReading } from '../live-turn.ts';
import { sendMessage } from '../send/send-message.ts';
import { storedRequest } from '../send/send-request.ts';
import { expiredError, followFrames, readOn } from './follow-frames.ts';
import { finishedFrom, iterateFrames, readRemainder } from './read-turn.ts';

/** The client that reads a stream. */
export interface StreamReader {
  /** Fires when the client has gone. */
  left: AbortSignal;
  /** Takes work that must end, too, before the request counts as served. */
  takeOn: (work: Promise<unknown>) => void;
}

const pastEndError = (seq: number, lastFrameId?: number) =>
  new AppError({
    reason: 'BAD_FIELD',
    publicMessage:
      lastFrameId === undefined
        ? '`startingAfter` (or `Last-Event-ID`) names an event later than all that this turn has sent. Ask again without it.'
        : `\`startingAfter\` (or \`Last-Event-ID\`) names an event later than the last one of this turn, which has the id ${lastFrameId}. Ask again without it.`,
    metadata: {
      field: 'startingAfter',
      turnId: turnId(seq),
      ...(lastFrameId !== undefined && { lastFrameId: String(lastFrameId) }),
    },
  });

/** The frames for a reader, which may leave; a turn that its reading takes over is answered all the same. */
type ReadFrames = (reader?: Partial<StreamReader>) => AsyncIterable<StreamFrame>;

/** The turn that is read, and how. */
interface StreamRequest {
  caller: Caller;
  turn: Turn;
  cursor: number | undefined;
  locale: string | undefined;
  /** How this stream numbers the frames of the turn; they are given with the ids of the turn. */
  showId?: (id: number) => number;
}

async function finishedFrames(
  dependencies: ChatDependencies,
  own: OwnConversation,
  { turn, cursor, locale, showId = (id) => id }: StreamRequest,
): Promise<ReadFrames | undefined> {
  const { conversationId, job } = own;
  const conversation = own.conversation.value;
  const finished = await finishedFrom(dependencies, {
    conversationId,
    conversation,
    job,
    turn,
    locale,
  });
  const rest = await readRemainder(dependencies, { conversationId, ...finished }, cursor);
  switch (rest.kind) {
    case 'frames':
      return rest.frames.length > 0 ? () => iterateFrames(rest.frames) : undefined;
    case 'pastEnd':
      throw pastEndError(turn.seq, showId(rest.lastFrameId));
    case 'expired':
      throw expiredError(turn);
  }
}

/**
 * The frames of a turn for a reader that has not sent it: live from this instance, as another one stores them, or the
 * rest of a finished turn. An abandoned turn is taken over, as by a send of its message. `undefined` when the cursor
 * stands at the end of a finished turn. Throws BAD_FIELD for a cursor behind all frames, STREAM_EXPIRED when the frames
 * after it are purged.
 */
export async function streamTurn(
  dependencies: ChatDependencies,
  own: OwnConversation,
  asked: StreamRequest,
): Promise<ReadFrames | undefined> {
  const { caller, turn, cursor, locale, showId = (id) => id } = asked;
  const { conversationId } = own;
  const { seq, attempt } = turn;
  if (isStreamAtEnd(turn.state)) return finishedFrames(dependencies, own, asked);
  const place = cursorPlace(cursor, attempt);
  if (place === 'beyond') throw pastEndError(seq);
  const found = dependencies.liveTurns.get(liveTurnKey(conversationId, seq));
  const live = found?.attempt === attempt ? found : undefined;
  const lastId = live?.lastId() ?? Infinity;
  if (place === 'within' && (cursor ?? 0) > lastId)
    throw pastEndError(seq, lastId < firstFrameId(attempt) ? undefined : showId(lastId));
  return ({ left, takeOn } = {}) => {
    if (left) live?.subscribe(left);
    const frames =
      live?.frames(openReading(cursor, { attempt }), left) ??
      followFrames(dependencies, { conversationId, seq, cursor, locale, left });
    // The request of a reader that takes an abandoned turn over lasts until the turn is answered.
    const sendAgain = (point: ResumePoint) => {
      const reader = { caller, conversationId, locale, ...point, isReader: true as const };
      const sent = sendMessage(dependencies, storedRequest(reader, turn));
      takeOn?.(ignoreRejection(sent.then(({ result }) => result)));
      return sent;
    };
    return readOn(frames, sendAgain, left);
  };
}

interface ConversationStream {
  turn: Turn;
  frames: ReadFrames;
}

async function turnAt(
  { store }: Pick<ChatDependencies, 'store'>,
  { conversationId }: OwnConversation,
  seq: number,
): Promise<Turn | undefined> {
  const [turn] = await readTurns(store, conversationId, [seq]);
  return turn?.value;
}

/** Frames with the ids that they have in the stream of the conversation. */
async function* numbered(
  frames: AsyncIterable<StreamFrame>,
  seq: number,
): AsyncGenerator<StreamFrame> {
  for await (const { id, chunk } of frames) yield { id: conversationFrameId(seq, id), chunk };
}

async function framesOfTurn(
  dependencies: ChatDependencies,
  own: OwnConversation,
  asked: StreamRequest,
): Promise<ConversationStream | undefined> {
  const { turn } = asked;
  const showId = (id: number) => conversationFrameId(turn.seq, id);
  const frames = await streamTurn(dependencies, own, { ...asked, showId });
  return frames && { turn, frames: (reader) => numbered(frames(reader), turn.seq) };
}

/**
 * The stream of a conversation, turn by turn, with ids that name the turn (CONVERSATION_IDS_PER_TURN): the
 * rest of the turn that the cursor names, or, when nothing of it is left, the turn after it from its first
 * frame. A cursor that names none counts for the turn that is being answered. `undefined` when there is
 * nothing to read. Throws BAD_FIELD for a cursor behind all that has been, STREAM_EXPIRED.
 */
export async function streamConversation(
  dependencies: ChatDependencies,
  own: OwnConversation,
  asked: Omit<StreamRequest, 'turn'>,
): Promise<ConversationStream | undefined> {
  const { seq, id: cursor } = placeOfCursor(asked.cursor);
  if (seq === undefined) {
    const { open } = own.conversation.value;
    const active = open && (await turnAt(dependencies, own, open.seq));
    if (!active || isTerminal(active.state)) return undefined;
    return framesOfTurn(dependencies, own, { ...asked, cursor, turn: active });
  }
  const turn = await turnAt(dependencies, own, seq);
  if (!turn) throw pastEndError(seq);
  const rest = await framesOfTurn(dependencies, own, { ...asked, cursor, turn });
  if (rest) return rest;
  const next = await turnAt(dependencies, own, seq + 1);
  return next && framesOfTurn(dependencies, own, { ...asked, cursor: undefined, turn: next });
}
