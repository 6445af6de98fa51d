import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { viewContext } from '#functions/chat/context/view-context.ts';
import { notFoundError } from '#functions/chat/not-found.ts';
import { readContextParts, readTurns } from '#shared/conversation/context/read-conversation.ts';
import {
  decodeConversation,
  type Conversation,
} from '#shared/conversation/documents/conversation.ts';
import { decodeJob, type CompactionJob } from '#shared/conversation/documents/job.ts';
import { compactionJobPath, conversationPath } from '#shared/conversation/documents/paths.ts';
import { readFramesAfter } from '#shared/conversation/documents/stored-frames.ts';
import { isResting, type Turn } from '#shared/conversation/documents/turn.ts';
import { cursorPlace } from '#shared/wire/frame-ids.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import { recalledView } from '#shared/wire/resources/turns.ts';
import type { FinishedTurn } from '../live/live-turn.ts';
import {
  closingFrames,
  correctingFrames,
  lastFrameIdIn,
  replayFrames,
} from '../live/turn-frames.ts';

/** A stored turn with the context object as it is now. */
export async function finishedFrom(
  dependencies: Pick<
    ChatDependencies,
    'store' | 'cache' | 'logger' | 'config' | 'clock' | 'sha256'
  >,
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
 * The same, all of it read now; `undefined` when the turn goes on: what failed for now may be asked again
 * at any moment. Throws NOT_FOUND when the conversation or the turn is gone.
 */
export async function readFinished(
  dependencies: Pick<
    ChatDependencies,
    'store' | 'cache' | 'logger' | 'config' | 'clock' | 'sha256'
  >,
  target: { conversationId: string; seq: number; locale: string | undefined },
): Promise<FinishedTurn | undefined> {
  const { conversationId, seq, locale } = target;
  const [conversationDocument, jobDocument] = await dependencies.store.get([
    conversationPath(conversationId),
    compactionJobPath(conversationId),
  ]);
  const [turn] = await readTurns(dependencies.store, conversationId, [seq]);
  if (!conversationDocument || !turn) throw notFoundError(conversationId);
  if (!isResting(turn.value.state)) return undefined;
  return finishedFrom(dependencies, {
    conversationId,
    conversation: decodeConversation(conversationDocument).value,
    job: jobDocument && decodeJob(jobDocument).value,
    turn: turn.value,
    locale,
  });
}

/** What a reader with a cursor, or none, still has to get of a finished turn. */
type Remainder =
  | { kind: 'frames'; frames: StreamFrame[] }
  /** The cursor stands at the last frame. */
  | { kind: 'nothing' }
  /** No such frame has been. */
  | { kind: 'pastEnd'; lastFrameId: number }
  /** The frames after the cursor are not stored any more. */
  | { kind: 'expired' };

type Finished = FinishedTurn & { conversationId: string };

const storedAfter = (
  { store }: Pick<ChatDependencies, 'store'>,
  { turn: { seq, attempt }, conversationId }: Finished,
  afterId: number,
) => readFramesAfter(store, { conversationId, seq, attempt }, afterId);

/**
 * What is left of a turn that its producer did not finish: what it had stored after the cursor, then the
 * end. A cursor at a frame that is not stored is a reader's who has seen more than anybody will again.
 */
async function afterForeignEnd(
  dependencies: Pick<ChatDependencies, 'store'>,
  finished: Finished,
  cursor: number,
): Promise<StreamFrame[]> {
  const correcting = correctingFrames(finished);
  const isAmongThem = cursor >= (correcting[0]?.id ?? 0);
  if (isAmongThem) return correcting.filter(({ id }) => id > cursor);
  const { shownThrough = Infinity } = finished.turn;
  const stored = (await storedAfter(dependencies, finished, cursor - 1)) ?? [];
  const [seen, ...rest] = stored.filter(({ id }) => id <= shownThrough);
  return seen?.id === cursor ? [...rest, ...closingFrames(finished)] : correcting;
}

/**
 * The remainder of a finished turn: without a cursor of its last attempt the collapsed replay, else the
 * frames after it from the chunks.
 */
export async function readRemainder(
  dependencies: Pick<ChatDependencies, 'store'>,
  finished: Finished,
  cursor: number | undefined,
): Promise<Remainder> {
  const { turn } = finished;
  const lastFrameId = lastFrameIdIn(turn);
  if (cursor === undefined || cursorPlace(cursor, turn.attempt) === 'before')
    return { kind: 'frames', frames: replayFrames(finished) };
  if (cursor === lastFrameId) return { kind: 'nothing' };
  if (cursor > lastFrameId) return { kind: 'pastEnd', lastFrameId };
  if (turn.lastFrameId === undefined)
    return { kind: 'frames', frames: await afterForeignEnd(dependencies, finished, cursor) };
  const stored = await storedAfter(dependencies, finished, cursor);
  return stored?.at(-1)?.id === lastFrameId
    ? { kind: 'frames', frames: stored }
    : { kind: 'expired' };
}
