import { turnId } from '#shared/conversation/documents/paths.ts';
import { isResting, type Turn } from '#shared/conversation/documents/turn.ts';
import { AppError } from '#shared/errors.ts';
import { cursorPlace, firstFrameId } from '#shared/wire/frame-ids.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import type { Caller } from '#shared/ports/ports.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { StreamReader } from '#functions/chat/route.ts';
import type { SendMessage } from '../send/send-request.ts';
import { sendStored } from '../send/send-stored.ts';
import { ignoreRejection } from '#functions/lib/promises.ts';
import { expiredError, followFrames } from './follow-frames.ts';
import { liveTurnKey, openReading, type Abandoned } from '../live/live-turn.ts';
import type { OwnConversation } from '#functions/chat/conversations/own-conversation.ts';
import { finishedFrom, readRemainder } from './read-finished.ts';
import { readOn } from './read-on.ts';

export const pastEndError = (seq: number, lastFrameId?: number) =>
  new AppError({
    status: 'INVALID_ARGUMENT',
    reason: 'BAD_FIELD',
    message: `a cursor behind the last frame of turn ${seq}`,
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

/** Frames for a reader, who may leave; what a reader takes over has to be answered all the same. */
export type ReadFrames = (reader?: Partial<StreamReader>) => AsyncIterable<StreamFrame>;

interface Asked {
  caller: Caller;
  turn: Turn;
  cursor: number | undefined;
  locale: string | undefined;
  sendMessage: SendMessage;
  /** How this stream numbers the frames of the turn; they are given with the ids of the turn. */
  showId?: (id: number) => number;
}

async function* framesOf(frames: readonly StreamFrame[]): AsyncGenerator<StreamFrame> {
  for (const frame of frames) yield await Promise.resolve(frame);
}

async function finishedFrames(
  dependencies: ChatDependencies,
  own: OwnConversation,
  { turn, cursor, locale, showId = (id) => id }: Asked,
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
      return () => framesOf(rest.frames);
    case 'nothing':
      return undefined;
    case 'pastEnd':
      throw pastEndError(turn.seq, showId(rest.lastFrameId));
    case 'expired':
      throw expiredError({ conversationId, seq: turn.seq });
  }
}

/** Reads to the end of the turn, also where nobody answers it any more: then the reader's work is to have it answered. */
function readToEnd(
  dependencies: ChatDependencies,
  asked: Asked & { conversationId: string },
  from: {
    frames: AsyncIterableIterator<StreamFrame, Abandoned | undefined>;
    reader: Partial<StreamReader>;
  },
): AsyncIterableIterator<StreamFrame> {
  const { left, takeOn } = from.reader;
  const sendAgain = (abandoned: Abandoned) => {
    const sent = sendStored(dependencies, { ...asked, ...abandoned, isReader: true });
    takeOn?.(ignoreRejection(sent.then(({ result }) => result)));
    return sent;
  };
  return readOn(from.frames, sendAgain, left);
}

/**
 * The frames of a turn for one who only reads: live from this instance, as stored by another one, or what a
 * finished turn has left. A turn that nobody answers any more is taken over, as its sender would.
 * `undefined` when the cursor stands at the end of a finished turn.
 * Throws BAD_FIELD for a cursor behind all frames, STREAM_EXPIRED when the frames after it are purged.
 */
export async function streamTurn(
  dependencies: ChatDependencies,
  own: OwnConversation,
  asked: Asked,
): Promise<ReadFrames | undefined> {
  const { turn, cursor, locale, showId = (id) => id } = asked;
  const { conversationId } = own;
  const { seq, attempt } = turn;
  if (isResting(turn.state)) return finishedFrames(dependencies, own, asked);
  const place = cursorPlace(cursor, attempt);
  if (place === 'beyond') throw pastEndError(seq);
  const found = dependencies.liveTurns.get(liveTurnKey(conversationId, seq));
  const live = found?.attempt === attempt ? found : undefined;
  const lastId = live?.lastId() ?? Infinity;
  if (place === 'within' && (cursor ?? 0) > lastId)
    throw pastEndError(seq, lastId < firstFrameId(attempt) ? undefined : showId(lastId));
  return (reader = {}) => {
    const { left } = reader;
    if (left) live?.subscribe(left);
    const frames =
      live?.frames(openReading(cursor, { attempt }), left) ??
      followFrames(dependencies, { conversationId, seq, cursor, locale, left });
    return readToEnd(dependencies, { ...asked, conversationId }, { frames, reader });
  };
}
