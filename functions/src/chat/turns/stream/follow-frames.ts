import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { notFoundError } from '#functions/chat/not-found.ts';
import { chainIterators } from '#functions/lib/async-iterators.ts';
import { readTurnDocuments } from '#shared/conversation/context/read-conversation.ts';
import { chunksCollection, turnId } from '#shared/conversation/documents/paths.ts';
import { type StreamChunkDocument, readStreamChunk } from '#shared/wire/stream-chunk.ts';
import { type TurnDocument, isStreamAtEnd } from '#shared/conversation/documents/turn.ts';
import { AppError, StoreUnavailableError } from '#shared/lib/errors.ts';
import { firstFrameId } from '#shared/conversation/frame-ids.ts';
import { type StreamFrame, collapseFrames } from '#shared/wire/resources/streams.ts';
import { type ResumePoint, openReading } from '../live-turn.ts';
import { replayFrames } from './turn-frames.ts';
import type { SendHandle, SendRequest } from '../send/send-request.ts';
import { shuttingDownError, stillQueuedError } from '../turn-errors.ts';
import { readFinished, readRemainder } from './read-turn.ts';

/** How often a turn is looked at that has not begun, and how long to wait for a watch that broke. */
const LOOK_INTERVAL_MS = 500;

/** A finished turn whose frames after the reader's cursor are not stored any more. */
export const expiredError = ({ seq }: Pick<Followed, 'seq'>) =>
  new AppError({
    reason: 'STREAM_EXPIRED',
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

async function readFollowed(
  { store }: Pick<ChatDependencies, 'store'>,
  { conversationId, seq }: Followed,
): Promise<TurnDocument['value']> {
  const [turn] = await readTurnDocuments(store, conversationId, [seq]);
  if (!turn) throw notFoundError();
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
    let { leaseUntil } = running.turn;
    let next = batches.next();
    for (;;) {
      const timer = new AbortController();
      const waitMs = Math.max(1, leaseUntil.getTime() - clock.now().getTime());
      const silence = clock.wait(waitMs, timer.signal).then(() => 'silence' as const);
      next.catch(() => undefined); // told by the race, unless silence wins it
      const batch = await Promise.race([next, silence]);
      timer.abort();
      if (batch === 'silence') {
        const turn = await readFollowed(dependencies, followed);
        const isRenewed = turn.attempt === order.attempt && turn.leaseUntil > clock.now();
        if (!isRenewed || turn.state !== 'running') return 'look';
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
 * The frames of a finished turn after the reader's cursor; all of them for a cursor behind the end. Returns false where
 * the turn goes on after all.
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
    case 'pastEnd':
      yield* replayFrames({ conversationId, ...finished });
      return true;
    case 'expired':
      throw expiredError(followed);
  }
}

/** Throws TURN_STILL_QUEUED where a reader has waited too long for a turn to begin. */
function refuseWaiting(
  { config, clock }: ChatDependencies,
  { conversationId, seq }: Followed,
  sinceMs: number,
): void {
  if (clock.now().getTime() - sinceMs > config.TURN_TIMEOUT_MS)
    throw stillQueuedError(`turn ${seq} of ${conversationId}`);
}

/**
 * The frames of a turn that another instance answers, as it stores them: those after the cursor, or, for a reader
 * without a cursor in the present attempt, those so far collapsed and then the next ones. Goes on through take-overs to
 * the end of the turn, or until the turn is abandoned: then it returns where the reader stands. Ends when the reader
 * has left. Throws SHUTTING_DOWN when this process ends (StreamCutError: another instance has the turn), NOT_FOUND,
 * STREAM_EXPIRED, TURN_STILL_QUEUED.
 */
export async function* followFrames(
  dependencies: ChatDependencies,
  followed: Followed,
): AsyncGenerator<StreamFrame, ResumePoint | undefined> {
  const { clock, shutdown } = dependencies;
  const { left } = followed;
  const until = left ? AbortSignal.any([left, shutdown]) : shutdown;
  let { cursor } = followed;
  const sinceMs = clock.now().getTime();
  let order: ChunkOrder | undefined;
  for (;;) {
    if (left?.aborted) return undefined;
    const turn = await readFollowed(dependencies, followed);
    if (isStreamAtEnd(turn.state)) {
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
        if (!order.gotNothing() || (yield* remainder(dependencies, followed, undefined)))
          return undefined;
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      // The next read of the turn tells whether to go on watching.
      await clock.wait(LOOK_INTERVAL_MS, until);
    }
    cursor = order.cursor();
  }
}

/** Puts the chunks of one attempt in order: a watch may give them twice or out of order. */
interface ChunkOrder {
  attempt: number;
  /** Takes a chunk from the watch; one of another attempt tells only that there is that attempt. */
  put(chunk: StreamChunkDocument): void;
  /** The frames that are next, each once; the first ones collapsed for a reader without a cursor. */
  take(): StreamFrame[];
  /** Id of the last frame that was taken; before that, the cursor with which the reader came. */
  cursor(): number | undefined;
  /** The reader came with a cursor behind all frames of the attempt: it was given nothing. */
  gotNothing(): boolean;
  /** The final chunk has been taken. */
  isEnded(): boolean;
  /** The turn waited for the app after the last chunk that was taken; said once. */
  takePause(): boolean;
  /** A later attempt has stored something. */
  isSuperseded(): boolean;
}

export function createChunkOrder(attempt: number, cursor: number | undefined): ChunkOrder {
  /** Chunks with frames that the reader does not have. */
  let waiting: StreamChunkDocument[] = [];
  const reading = openReading(cursor, { attempt });
  let nextId = reading.kind === 'after' ? reading.id + 1 : firstFrameId(attempt);
  let isFirst = reading.kind === 'collapsed';
  /** Id of the last frame of the chunks that the reader has, as far as they were seen. */
  let passedId = -1;
  let ended = false;
  let superseded = false;
  let paused = false;
  let taken = cursor;
  const pass = ({ lastId, final, pause }: StreamChunkDocument) => {
    if (lastId <= passedId) return;
    passedId = lastId;
    ended = final === true;
    paused = pause === true;
  };
  /** The frames of the next chunks that are there. */
  const nextFrames = () => {
    const frames: StreamFrame[] = [];
    for (const chunk of waiting.toSorted((a, b) => a.firstId - b.firstId)) {
      if (chunk.firstId > nextId) break;
      frames.push(...chunk.frames.filter(({ id }) => id >= nextId));
      nextId = Math.max(nextId, chunk.lastId + 1);
      pass(chunk);
    }
    waiting = waiting.filter(({ lastId }) => lastId >= nextId);
    return frames;
  };
  return {
    attempt,
    put: (chunk) => {
      if (chunk.attempt > attempt) superseded = true;
      if (chunk.attempt !== attempt) return;
      if (chunk.lastId >= nextId) waiting.push(chunk);
      else pass(chunk);
    },
    take: () => {
      const frames = nextFrames();
      taken = frames.at(-1)?.id ?? taken;
      if (!isFirst || frames.length === 0) return frames;
      isFirst = false;
      return collapseFrames(frames);
    },
    cursor: () => taken,
    gotNothing: () => reading.kind === 'after' && reading.id > passedId,
    isEnded: () => ended,
    takePause: () => {
      const wasPaused = paused;
      paused = false;
      return wasPaused;
    },
    isSuperseded: () => superseded,
  };
}

/** Passes frames on to a reader; what puts them in goes on when the reader has left. */
function createRelay() {
  const frames: StreamFrame[] = [];
  let end: { error?: unknown } | undefined;
  let change = Promise.withResolvers<void>();
  const signal = () => {
    change.resolve();
    change = Promise.withResolvers<void>();
  };
  return {
    put: (frame: StreamFrame) => {
      frames.push(frame);
      signal();
    },
    end: (ended: { error?: unknown }) => {
      end ??= ended;
      signal();
    },
    async *frames(): AsyncGenerator<StreamFrame> {
      for (let next = 0; ;) {
        const changed = change.promise;
        for (let frame = frames[next]; frame !== undefined; frame = frames[++next]) yield frame;
        if (next < frames.length) continue;
        if (end && 'error' in end) throw end.error;
        if (end) return;
        await changed;
      }
    },
  };
}

/**
 * Follows a turn that another instance answers, to its end or until it is abandoned; goes on when its reader has left.
 * `end`: where the reader stands in an abandoned turn.
 */
export function followTurn(
  dependencies: ChatDependencies,
  { conversationId, cursor, locale }: SendRequest,
  seq: number,
): { frames: () => AsyncGenerator<StreamFrame>; end: Promise<ResumePoint | undefined> } {
  const relay = createRelay();
  const follow = async (): Promise<ResumePoint | undefined> => {
    const frames = followFrames(dependencies, { conversationId, seq, cursor, locale });
    let next = await frames.next();
    for (; !next.done; next = await frames.next()) relay.put(next.value);
    relay.end({});
    return next.value;
  };
  const end = follow();
  end.catch((error: unknown) => relay.end({ error }));
  return { frames: () => relay.frames(), end };
}

/**
 * The frames of a turn to its end: the message of an abandoned turn is sent again, and the reader reads on. It is a
 * subscriber of that turn until it has `left`. Where the turn goes on at another instance, `frames` follows it there.
 */
export const readOn = (
  frames: AsyncIterableIterator<StreamFrame, ResumePoint | undefined>,
  sendAgain: (point: ResumePoint) => Promise<SendHandle>,
  left: AbortSignal | undefined,
): AsyncIterableIterator<StreamFrame> =>
  chainIterators(frames, async (point) => {
    if (!point) return undefined;
    const handle = await sendAgain(point);
    if (left) handle.subscribe(left);
    return handle.frames(left)[Symbol.asyncIterator]();
  });
