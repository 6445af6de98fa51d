import { turnId } from '../../../../shared/conversation/paths.ts';
import { isTerminal, type Turn } from '../../../../shared/conversation/turn.ts';
import { AppError } from '../../../../shared/errors.ts';
import { cursorPlace } from '../../../../shared/wire/frame-ids.ts';
import type { StreamFrame } from '../../../../shared/wire/stream.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { expiredError, followFrames, type Followed } from './follow-frames.ts';
import { liveTurnKey, readingOf } from '../answer/live-turn.ts';
import type { OwnConversation } from '../conversation/own-conversation.ts';
import { finishedFrom, remainderOf } from './read-finished.ts';

const pastEndError = (seq: number, lastFrameId: number | undefined) =>
  new AppError({
    status: 'INVALID_ARGUMENT',
    reason: 'BAD_FIELD',
    message: `a cursor behind the last frame of turn ${seq}`,
    publicMessage:
      lastFrameId === undefined
        ? '`startingAfter` (or `Last-Event-ID`) is behind all that this turn has sent. Ask again without it.'
        : `\`startingAfter\` (or \`Last-Event-ID\`) is behind the last event of this turn, which has the id ${lastFrameId}. Ask again without it.`,
    metadata: {
      field: 'startingAfter',
      turnId: turnId(seq),
      ...(lastFrameId !== undefined && { lastFrameId: String(lastFrameId) }),
    },
  });

/** Frames for a reader, who may leave. */
export type ReadFrames = (left?: AbortSignal) => AsyncIterable<StreamFrame>;

async function* framesOf(frames: readonly StreamFrame[]): AsyncGenerator<StreamFrame> {
  for (const frame of frames) yield await Promise.resolve(frame);
}

async function finishedFrames(
  dependencies: ChatDependencies,
  own: OwnConversation,
  of: { followed: Followed; turn: Turn },
): Promise<ReadFrames | undefined> {
  const { conversationId, job } = own;
  const { followed, turn } = of;
  const head = own.head.value;
  const { locale, cursor } = followed;
  const finished = await finishedFrom(dependencies, { conversationId, head, job, turn, locale });
  const rest = await remainderOf(dependencies, { conversationId, ...finished }, cursor);
  switch (rest.kind) {
    case 'frames':
      return () => framesOf(rest.frames);
    case 'nothing':
      return undefined;
    case 'pastEnd':
      throw pastEndError(turn.seq, rest.lastFrameId);
    case 'expired':
      throw expiredError(followed);
  }
}

/**
 * The frames of a turn for one who only reads: live from this instance, as stored by another one, or what a
 * finished turn has left. `undefined` when the cursor stands at the end of a finished turn.
 * Throws BAD_FIELD for a cursor behind all frames, STREAM_EXPIRED when the frames after it are purged.
 */
export async function streamTurn(
  dependencies: ChatDependencies,
  own: OwnConversation,
  of: { turn: Turn; cursor: number | undefined; locale: string | undefined },
): Promise<ReadFrames | undefined> {
  const { turn, cursor, locale } = of;
  const { conversationId } = own;
  const { seq, attempt } = turn;
  const followed = { conversationId, seq, cursor, locale };
  if (isTerminal(turn.state)) return finishedFrames(dependencies, own, { followed, turn });
  if (cursorPlace(cursor, attempt) === 'beyond') throw pastEndError(seq, undefined);
  const live = dependencies.liveTurns.get(liveTurnKey(conversationId, seq));
  if (live?.attempt === attempt) return (left) => live.frames(readingOf(cursor, attempt), left);
  return (left) => followFrames(dependencies, { ...followed, left });
}
