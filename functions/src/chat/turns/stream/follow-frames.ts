import { chunksCollection, turnId } from '#shared/conversation/documents/paths.ts';
import { readTurnDocuments } from '#shared/conversation/context/read-conversation.ts';
import { readStreamChunk } from '#shared/conversation/documents/stream-chunk.ts';
import { isResting, type TurnDocument } from '#shared/conversation/documents/turn.ts';
import { AppError, StoreUnavailableError } from '#shared/errors.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { createChunkOrder, type ChunkOrder } from './chunk-order.ts';
import { notFoundError } from '#functions/chat/not-found.ts';
import { replayFrames } from '../live/turn-frames.ts';
import { readFinished, readRemainder } from './read-finished.ts';
import type { Abandoned } from '../live/live-turn.ts';
import { shuttingDownError, stillQueuedError } from './stream-cut.ts';

/** How often a turn is looked at that has not begun, and how long to wait for a watch that broke. */
const LOOK_INTERVAL_MS = 500;

/** A finished turn whose frames after the reader's cursor are not stored any more. */
export const expiredError = ({ conversationId, seq }: Pick<Followed, 'conversationId' | 'seq'>) =>
  new AppError({
    status: 'NOT_FOUND',
    reason: 'STREAM_EXPIRED',
    httpStatus: 410,
    message: `the chunks of turn ${seq} of ${conversationId} are purged`,
    publicMessage:
      'This stream is too old to be continued. Read the answer from the messages, or ask again without a cursor.',
    metadata: { turnId: turnId(seq) },
  });

interface Followed {
  conversationId: string;
  seq: number;
  /** Id of the last frame that the reader has. */
  cursor: number | undefined;
  locale: string | undefined;
  /** Fires when the reader has left: then nothing is read, watched or waited for any more. */
  left?: AbortSignal | undefined;
}

async function readTurn(
  { store }: Pick<ChatDependencies, 'store'>,
  { conversationId, seq }: Followed,
): Promise<TurnDocument['value']> {
  const [turn] = await readTurnDocuments(store, conversationId, [seq]);
  if (!turn) throw notFoundError(conversationId);
  return turn.value;
}

/** What came of waiting for chunks: the attempt has ended, or the turn has to be looked at again. */
type Followup = 'ended' | 'look';

/** Watches the chunks of one attempt until it ends, a later one begins, its lease runs out, or `until` fires. */
async function* watchAttempt(
  dependencies: ChatDependencies,
  followed: Followed,
  running: { turn: TurnDocument['value']; order: ChunkOrder; until: AbortSignal },
): AsyncGenerator<StreamFrame, Followup> {
  const { clock, store } = dependencies;
  const { order, until } = running;
  const stop = new AbortController();
  const stopped = AbortSignal.any([stop.signal, until]);
  const watched = store.watch(chunksCollection(followed.conversationId, followed.seq), stopped);
  const batches = watched[Symbol.asyncIterator]();
  try {
    for (let leaseUntil = running.turn.leaseUntil, next = batches.next(); ;) {
      const timer = new AbortController();
      const waitMs = Math.max(1, leaseUntil.getTime() - clock.now().getTime());
      const silence = clock.wait(waitMs, timer.signal).then(() => 'silence' as const);
      next.catch(() => undefined); // told by the race, unless silence wins it
      const batch = await Promise.race([next, silence]);
      timer.abort();
      if (batch === 'silence') {
        const turn = await readTurn(dependencies, followed);
        const isHeld = turn.attempt === order.attempt && turn.leaseUntil > clock.now();
        if (!isHeld || turn.state !== 'running') return 'look';
        leaseUntil = turn.leaseUntil;
        continue;
      }
      if (batch.done) return 'look';
      for (const document of batch.value) {
        const chunk = readStreamChunk(document);
        if (chunk) order.put(chunk);
      }
      yield* order.take();
      if (order.isEnded()) return 'ended';
      if (order.takePause() || order.isSuperseded()) return 'look';
      next = batches.next();
    }
  } finally {
    stop.abort();
    void batches.return?.().catch(() => undefined);
  }
}

/**
 * The end of a finished turn, for one who has come so far; all of it for one who says to have come further.
 * Returns whether that was the end, or the turn goes on after all.
 */
async function* remainder(
  dependencies: ChatDependencies,
  followed: Followed,
  cursor: number | undefined,
): AsyncGenerator<StreamFrame, boolean> {
  const finished = await readFinished(dependencies, followed);
  if (!finished) return false;
  const { conversationId } = followed;
  const rest = await readRemainder(dependencies, { conversationId, ...finished }, cursor);
  switch (rest.kind) {
    case 'frames':
      yield* rest.frames;
      return true;
    case 'nothing':
      return true;
    case 'pastEnd':
      yield* replayFrames({ conversationId, ...finished });
      return true;
    case 'expired':
      throw expiredError(followed);
  }
}

/** Bounds how long a reader waits for a turn that has not begun. Throws when it was too long. */
function refuseWaiting(
  { config, clock }: ChatDependencies,
  { conversationId, seq }: Followed,
  sinceMs: number,
): void {
  if (clock.now().getTime() - sinceMs > config.TURN_TIMEOUT_MS)
    throw stillQueuedError(`turn ${seq} of ${conversationId}`);
}

/**
 * The frames of a turn that another instance produces, as they are stored, from the cursor on or, without
 * one of the present attempt, with what is there already collapsed; through take-overs, to the end or until
 * nobody answers the turn any more. Ends when the reader has left. Throws SHUTTING_DOWN when this process ends
 * (StreamCutError: another instance has the turn, nothing here is worth waiting for), NOT_FOUND,
 * STREAM_EXPIRED, TURN_STILL_QUEUED.
 */
export async function* followFrames(
  dependencies: ChatDependencies,
  followed: Followed,
): AsyncGenerator<StreamFrame, Abandoned | undefined> {
  const { clock, shutdown } = dependencies;
  const { left } = followed;
  const until = left ? AbortSignal.any([left, shutdown]) : shutdown;
  let { cursor } = followed;
  const sinceMs = clock.now().getTime();
  let order: ChunkOrder | undefined;
  for (;;) {
    if (left?.aborted) return undefined;
    const turn = await readTurn(dependencies, followed);
    if (isResting(turn.state)) {
      if (yield* remainder(dependencies, followed, cursor)) return undefined;
      continue;
    }
    if (shutdown.aborted) throw shuttingDownError(`a reader of turn ${followed.seq}`);
    if (left?.aborted) return undefined;
    if (turn.leaseUntil <= clock.now()) return { cursor };
    if (turn.state !== 'running') {
      refuseWaiting(dependencies, followed, sinceMs);
      await clock.wait(LOOK_INTERVAL_MS, until);
      continue;
    }
    if (order?.attempt !== turn.attempt) order = createChunkOrder(turn.attempt, cursor);
    try {
      if ((yield* watchAttempt(dependencies, followed, { turn, order, until })) === 'ended') {
        if (!order.isAhead() || (yield* remainder(dependencies, followed, undefined)))
          return undefined;
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      // The turn itself tells whether there is something to wait for.
      await clock.wait(LOOK_INTERVAL_MS, until);
    }
    cursor = order.cursor();
  }
}
