import { readFramesAfter } from '#shared/wire/stream-chunk.ts';
import { recalledView } from '#shared/wire/resources/turns.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { viewContext } from '#functions/chat/context/view-context.ts';
import {
  type OwnConversation,
  readOwnConversation,
} from '#functions/chat/conversations/own-conversation.ts';
import { notFoundError } from '#functions/chat/not-found.ts';
import { readContextParts, readTurns } from '#shared/conversation/context/read-conversation.ts';
import {
  type Conversation,
  type Versioned,
  decodeConversation,
} from '#shared/conversation/documents/conversation.ts';
import { type CompactionJob, decodeJob } from '#shared/conversation/documents/job.ts';
import {
  compactionJobPath,
  conversationPath,
  seqOfId,
} from '#shared/conversation/documents/paths.ts';
import { type Turn, isStreamAtEnd } from '#shared/conversation/documents/turn.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { cursorPlace } from '#shared/conversation/frame-ids.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import type { FinishedTurn } from '../live-turn.ts';
import { closingFrames, correctingFrames, lastFrameIdIn, replayFrames } from './turn-frames.ts';

/** A turn of the caller's own conversation. Throws NOT_FOUND, TURN_NOT_FOUND. */
export async function readOwnTurn(
  dependencies: Pick<ChatDependencies, 'store'>,
  target: { caller: Caller; conversationId: string; turnId: string },
): Promise<{ own: OwnConversation; turn: Versioned<Turn> }> {
  const { conversationId, turnId } = target;
  const own = await readOwnConversation(dependencies, target);
  const seq = seqOfId(turnId, 't') ?? 0;
  const isThere = seq >= 1 && seq <= own.conversation.value.lastSeq;
  const [turn] = isThere ? await readTurns(dependencies.store, conversationId, [seq]) : [];
  if (!turn)
    throw new AppError({
      reason: 'TURN_NOT_FOUND',
      publicMessage: 'The conversation has no such turn.',
      metadata: { turnId },
    });
  return { own, turn };
}

type FinishedDependencies = Pick<
  ChatDependencies,
  'store' | 'cache' | 'logger' | 'config' | 'clock' | 'sha256'
>;

/** A stored turn with the context object as it is now. */
export async function finishedFrom(
  dependencies: FinishedDependencies,
  target: {
    conversationId: string;
    conversation: Conversation;
    job: CompactionJob | undefined;
    turn: Turn;
    locale: string | undefined;
  },
): Promise<FinishedTurn> {
  const { conversationId, conversation, job, turn, locale } = target;
  const parts = await readContextParts(dependencies, { conversationId, conversation });
  const context = {
    ...viewContext(dependencies, { conversation, ...parts, job, locale }),
    ...recalledView(turn),
  };
  return { turn, context, replayed: true };
}

/**
 * A finished turn with the context object, both read now; `undefined` when the turn goes on: a retryable failure may
 * get its next attempt at any moment. Throws NOT_FOUND when the conversation or the turn is gone.
 */
export async function readFinished(
  dependencies: FinishedDependencies,
  target: { conversationId: string; seq: number; locale: string | undefined },
): Promise<FinishedTurn | undefined> {
  const { conversationId, seq, locale } = target;
  const [conversationDocument, jobDocument] = await dependencies.store.get([
    conversationPath(conversationId),
    compactionJobPath(conversationId),
  ]);
  const [turn] = await readTurns(dependencies.store, conversationId, [seq]);
  if (!conversationDocument || !turn) throw notFoundError();
  if (!isStreamAtEnd(turn.value.state)) return undefined;
  return finishedFrom(dependencies, {
    conversationId,
    conversation: decodeConversation(conversationDocument).value,
    job: jobDocument && decodeJob(jobDocument).value,
    turn: turn.value,
    locale,
  });
}

/** What a reader with a cursor, or without one, still has to get of a finished turn. */
type Remainder =
  /** Those after the cursor; none where it stands at the last one. */
  | { kind: 'frames'; frames: StreamFrame[] }
  /** No such frame has been. */
  | { kind: 'pastEnd'; lastFrameId: number }
  /** The frames after the cursor are not stored any more. */
  | { kind: 'expired' };

type Finished = FinishedTurn & { conversationId: string };

/**
 * The rest of a turn that its producer did not finish: the stored frames after the cursor, then the end. Where the
 * frame at the cursor is not stored, the reader has seen more than was stored: it gets frames that correct this.
 */
async function afterForeignEnd(
  store: ChatDependencies['store'],
  finished: Finished,
  cursor: number,
): Promise<StreamFrame[]> {
  const correcting = correctingFrames(finished);
  const isAmongThem = cursor >= (correcting[0]?.id ?? 0);
  if (isAmongThem) return correcting.filter(({ id }) => id > cursor);
  const { conversationId, turn } = finished;
  const { shownThrough = Infinity } = turn;
  const stored = (await readFramesAfter(store, { ...turn, conversationId }, cursor - 1)) ?? [];
  const [seen, ...rest] = stored.filter(({ id }) => id <= shownThrough);
  return seen?.id === cursor ? [...rest, ...closingFrames(finished)] : correcting;
}

/**
 * The remainder of a finished turn: without a cursor of its last attempt the collapsed replay, else the
 * frames after it from the chunks.
 */
export async function readRemainder(
  { store }: Pick<ChatDependencies, 'store'>,
  finished: Finished,
  cursor: number | undefined,
): Promise<Remainder> {
  const { conversationId, turn } = finished;
  const lastFrameId = lastFrameIdIn(turn);
  if (cursor === undefined || cursorPlace(cursor, turn.attempt) === 'before')
    return { kind: 'frames', frames: replayFrames(finished) };
  if (cursor === lastFrameId) return { kind: 'frames', frames: [] };
  if (cursor > lastFrameId) return { kind: 'pastEnd', lastFrameId };
  if (turn.lastFrameId === undefined)
    return { kind: 'frames', frames: await afterForeignEnd(store, finished, cursor) };
  const stored = await readFramesAfter(store, { ...turn, conversationId }, cursor);
  return stored?.at(-1)?.id === lastFrameId
    ? { kind: 'frames', frames: stored }
    : { kind: 'expired' };
}

/** Frames that are all there, as a stream. */
export async function* iterateFrames(frames: readonly StreamFrame[]): AsyncGenerator<StreamFrame> {
  for (const frame of frames) yield await Promise.resolve(frame);
}
