import { readFramesAfter } from '#shared/wire/stream-chunk.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { routeTurn } from '#functions/chat/features/route-turn.ts';
import { titleOfTurn } from '#functions/chat/features/titles.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { timeoutAfter } from '#functions/lib/deadline.ts';
import { AppError } from '#shared/lib/errors.ts';
import {
  type StreamChunk,
  collapseFrames,
  type StreamFrame,
} from '#shared/wire/resources/streams.ts';
import { finishTurn, createTurnTimes } from '../finish/finish-turn.ts';
import { settleUnstored } from '../finish/settle-answer.ts';
import {
  type Subscribers,
  type FinishedTurn,
  type FrameLog,
  createSubscribers,
  createFrameLog,
  liveTurnKey,
  type ResumePoint,
  type LiveTurn,
  type Reading,
} from '../live-turn.ts';
import { openingChunks } from '../stream/turn-frames.ts';
import type { BegunTurn, TurnAnswer } from '../start/begun-turn.ts';
import { toolboxOfTurn } from '../tools/toolbox.ts';
import { createTurnWriter, type TurnWriter } from './turn-writer.ts';
import { shuttingDownError, StreamCutError, isTakenOver } from '../turn-errors.ts';
import { answerTurn } from './answer-turn.ts';
import { timeoutError } from './stream-answer.ts';
import { followFrames } from '../stream/follow-frames.ts';
import { chainIterators } from '#functions/lib/async-iterators.ts';
import { ignoreRejection } from '#functions/lib/promises.ts';
import { firstFrameId } from '#shared/conversation/frame-ids.ts';

/** A turn that this instance answers. */
interface Production {
  begun: BegunTurn;
  /** The frames for readers at this instance. */
  log: FrameLog;
  /** The connections to this instance that wait for the answer. */
  audience: Pick<Subscribers, 'present'>;
  /** Fired by a cancellation here, and by this production when it finds one in the store. */
  cancelled: AbortController;
  /** Fires when the process ends and cannot wait for the answer. */
  givenUp: AbortSignal;
}

/** Begins to answer a turn at this instance. Its readers may come and go. */
export function startProduction(dependencies: ChatDependencies, begun: BegunTurn): LiveTurn {
  const { conversationId, seq, attempt } = begun.attempt;
  const key = liveTurnKey(conversationId, seq);
  const log = createFrameLog(begun.progress.nextFrameId);
  const audience = createSubscribers();
  const cancelled = new AbortController();
  const givenUp = new AbortController();
  const production: Production = {
    begun,
    log,
    audience,
    cancelled,
    givenUp: givenUp.signal,
  };
  const result = produceTurn(dependencies, production).finally(() => {
    if (dependencies.liveTurns.get(key) === live) dependencies.liveTurns.delete(key);
  });
  const live: LiveTurn = {
    attempt,
    frames: (reading, left) => readAcrossPause(dependencies, production, { reading, left }),
    subscribe: (left) => audience.subscribe(left),
    isAwaited: () => audience.present().length > 0,
    lastId: () => log.lastId(),
    result: ignoreRejection(result),
    cancel: () => cancelled.abort(),
    giveUp: () => givenUp.abort(),
  };
  dependencies.liveTurns.set(key, live);
  return live;
}

/**
 * Answers a turn: model, finish, publish, in a straight line. The frames end after the publish, so that the instance
 * keeps its CPU until all is done. Resolves for every turn whose end was stored, a failure and a cancellation too.
 * Throws when it could not be stored, when another producer has the turn (TURN_TAKEN_OVER), or when this one gave it up
 * (SHUTTING_DOWN).
 */
async function produceTurn(
  dependencies: ChatDependencies,
  production: Production,
): Promise<FinishedTurn> {
  const { log, audience, cancelled } = production;
  const { attempt, context, call, progress } = production.begun;
  const { conversationId, seq } = attempt;
  const times = createTurnTimes(dependencies.clock);
  const writer = createTurnWriter(dependencies, attempt, {
    cancel: () => cancelled.abort(),
    stored: progress,
  });
  const append = (chunk: StreamChunk) => {
    const frame = log.emit(chunk);
    writer.add(frame);
    return frame.id;
  };
  const title = titleOfTurn(dependencies, production.begun, append);
  const emit = (chunk: StreamChunk) => {
    const id = append(chunk);
    times.see(chunk);
    title.see(chunk);
    return id;
  };
  try {
    const opening = openingChunks({
      ...attempt,
      generation: context.conversation.generation,
      replayed: false,
      shrinkage: call.sent.shrinkage,
      isResumed: progress.isResumed,
      rounds: progress.rounds?.count,
    });
    for (const chunk of opening) emit(chunk);
    await passCrashPoint(dependencies, 'turn-started');
    const isAsked = !cancelled.signal.aborted;
    const { begun, answer } = isAsked
      ? await answerWithin(dependencies, production, { writer, emit })
      : { begun: production.begun, answer: unasked(production.begun) };
    await passCrashPoint(dependencies, 'answer-streamed');
    // The ids of the closing frames are fixed from here on.
    title.close();
    await writer.stop();
    if (answer.error && isGivenUp(production)) {
      // A release that fails changes nothing but the time: the lease runs out by itself.
      await writer.release().catch(() => undefined);
      await settleUnstored(dependencies, { begun, answer, writer });
      throw shuttingDownError(`turn ${seq} of ${conversationId}`);
    }
    const finished = await finishTurn(dependencies, {
      begun,
      answer,
      cancelled: cancelled.signal,
      isAsked,
      writer,
      log,
      audience,
      times,
      title,
    });
    log.end('finished');
    return finished;
  } catch (error) {
    title.close();
    await writer.stop().catch(() => undefined);
    endFailed(production, error);
    throw error;
  }
}

/** Whether the turn is left to the next send of its message. A cancelled one is not: it ends here. */
const isGivenUp = ({ cancelled, givenUp }: Production) =>
  givenUp.aborted && !cancelled.signal.aborted;

/** Chooses the model of an `auto` turn, then answers the turn within TURN_TIMEOUT_MS. */
async function answerWithin(
  dependencies: ChatDependencies,
  production: Production,
  { writer, emit }: { writer: TurnWriter; emit: (chunk: StreamChunk) => number },
): Promise<{ begun: BegunTurn; answer: TurnAnswer }> {
  const { cancelled, givenUp } = production;
  writer.start();
  const { conversationId, seq } = production.begun.attempt;
  const timeoutMs = dependencies.config.TURN_TIMEOUT_MS;
  const timeout = timeoutAfter(dependencies, timeoutMs);
  const signal = AbortSignal.any([writer.lost, timeout.signal, cancelled.signal, givenUp]);
  try {
    const begun = await routeTurn(dependencies, production.begun, { writer, signal });
    const isCut = () => isGivenUp(production);
    const toolbox = toolboxOfTurn(dependencies.toolbox, begun.turn.tools);
    const answering = { begun, writer, emit, signal, isCut };
    const answer = await answerTurn({ ...dependencies, toolbox }, answering);
    if (!answer.error || !timeout.signal.aborted) return { begun, answer };
    const error = timeoutError({ name: `turn ${seq} of ${conversationId}`, timeoutMs });
    return { begun, answer: { ...answer, error } };
  } finally {
    timeout.stop();
  }
}

/** The answer of a turn that was cancelled before the model was called. */
const unasked = ({ progress, call }: BegunTurn): TurnAnswer => ({
  ...progress,
  isUnreported: false,
  sentContents: 0,
  sent: call.sent,
  isWaiting: false,
});

/** Ends the frames of a turn whose end was not stored: with an error, unless the turn goes on elsewhere. */
function endFailed({ begun, log }: Production, error: unknown): void {
  if (error instanceof StreamCutError) return log.end('givenUp');
  if (isTakenOver(error)) return log.end('lost');
  const errorText =
    error instanceof AppError ? error.publicMessage : 'The answer could not be stored.';
  const { generation } = begun.context.conversation;
  log.emit({ type: 'error', errorText });
  log.emit({ type: 'finish', finishReason: 'error', messageMetadata: { generation } });
  log.end('finished');
}

type ReadTurn = Pick<Production, 'begun' | 'log'>;

interface Reader {
  reading: Reading;
  left: AbortSignal | undefined;
}

/**
 * The frames of a turn for a reader. After a pause the log has only the frames since. A reader without a cursor, or
 * with one from before the pause, gets the stored frames of before first. The request that made the turn go on has them
 * already.
 */
function readAcrossPause(
  dependencies: ChatDependencies,
  turn: ReadTurn,
  { reading, left }: Reader,
): AsyncIterableIterator<StreamFrame, ResumePoint | undefined> {
  const { attempt, progress } = turn.begun;
  const { nextFrameId, isResumed } = progress;
  const from = reading.kind === 'after' ? reading.id : firstFrameId(attempt.attempt) - 1;
  if (!isResumed || reading.kind === 'all' || from >= nextFrameId - 1)
    return readLog(dependencies, turn, { reading, left });
  async function* storedFrames(): AsyncGenerator<StreamFrame, void> {
    const before = await readFramesAfter(dependencies.store, attempt, from);
    const known = (before ?? []).filter(({ id }) => id < nextFrameId);
    yield* reading.kind === 'collapsed' ? collapseFrames(known) : known;
  }
  const rest = { kind: 'after' as const, id: nextFrameId - 1 };
  return chainIterators(storedFrames(), () => readLog(dependencies, turn, { reading: rest, left }));
}

/** The frames of the log, and after a take-over those of the other instance. */
function readLog(
  dependencies: ChatDependencies,
  { begun, log }: ReadTurn,
  { reading, left }: Reader,
): AsyncIterableIterator<StreamFrame, ResumePoint | undefined> {
  const { locale } = begun;
  const { conversationId, seq } = begun.attempt;
  return chainIterators(log.frames(reading), ({ end, cursor }) =>
    end === 'finished'
      ? undefined
      : followFrames(dependencies, { conversationId, seq, cursor, locale, left }),
  );
}
