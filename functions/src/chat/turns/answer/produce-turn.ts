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
  type Abandoned,
  type LiveTurn,
  type Reading,
} from '../live/live-turn.ts';
import { openingChunks } from '../live/turn-frames.ts';
import type { BegunTurn, TurnAnswer } from '../start/begun-turn.ts';
import { toolboxOfTurn } from '../tools/toolbox.ts';
import { createTurnWriter, type TurnWriter } from './turn-writer.ts';
import { shuttingDownError, StreamCutError, isTakenOver } from '../turn-errors.ts';
import { answerTurn } from './answer-turn.ts';
import { timeoutError } from './stream-answer.ts';
import type { SendRequest } from '../send/send-request.ts';
import { followFrames } from '../stream/follow-frames.ts';
import { chainIterators } from '#functions/lib/async-iterators.ts';
import { ignoreRejection } from '#functions/lib/promises.ts';
import { firstFrameId } from '#shared/conversation/frame-ids.ts';

/** A turn that is being answered here. */
interface Production {
  begun: BegunTurn;
  messageId: string;
  locale: string | undefined;
  /** Where readers of this instance read. */
  log: FrameLog;
  /** Who waits for the answer in this instance. */
  audience: Pick<Subscribers, 'present'>;
  /** Fired by a cancellation here, and by this production when it finds one in the store. */
  cancelled: AbortController;
  /** Fires when the process ends and cannot wait for the answer. */
  givenUp: AbortSignal;
}

/** Answers a turn that was begun here; whoever reads may come and go. */
export function startProduction(
  dependencies: ChatDependencies,
  { message, locale }: SendRequest,
  begun: BegunTurn,
): LiveTurn {
  const { conversationId, seq, attempt } = begun.attempt;
  const key = liveTurnKey(conversationId, seq);
  const log = createFrameLog(begun.progress.nextFrameId);
  const audience = createSubscribers();
  const cancelled = new AbortController();
  const givenUp = new AbortController();
  const production: Production = {
    begun,
    messageId: message.id,
    locale,
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
    isRead: () => audience.present().length > 0,
    lastId: () => log.lastId(),
    result: ignoreRejection(result),
    cancel: () => cancelled.abort(),
    giveUp: () => givenUp.abort(),
  };
  dependencies.liveTurns.set(key, live);
  return live;
}

/**
 * Answers a turn that this instance owns: model, finish, publish, in a straight line. The frames end
 * after the publish, so that an instance keeps its CPU until all is done.
 * Resolves for every turn that was stored, failed and cancelled ones included; throws when it could not
 * be stored, when another instance has it (TURN_TAKEN_OVER), or when it was given up (SHUTTING_DOWN).
 */
async function produceTurn(
  dependencies: ChatDependencies,
  production: Production,
): Promise<FinishedTurn> {
  const { log, cancelled } = production;
  const { attempt, context, call, progress } = production.begun;
  const { conversationId, seq } = attempt;
  const times = createTurnTimes(dependencies.clock);
  const writer = createTurnWriter(dependencies, attempt, {
    cancel: () => cancelled.abort(),
    stored: progress,
  });
  const tell = (chunk: StreamChunk) => {
    const frame = log.emit(chunk);
    writer.add(frame);
    return frame.id;
  };
  const title = titleOfTurn(dependencies, production.begun, tell);
  const emit = (chunk: StreamChunk) => {
    const id = tell(chunk);
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
    if (answer.error && isLeft(production)) {
      // A release that fails changes nothing but the time: the lease runs out by itself.
      await writer.release().catch(() => undefined);
      await settleUnstored(dependencies, { begun, answer, writer });
      throw shuttingDownError(`turn ${seq} of ${conversationId}`);
    }
    const isCancelled = cancelled.signal.aborted;
    const end = { begun, answer, isCancelled, isAsked, writer, times, title };
    const finished = await finishTurn(dependencies, { ...production, ...end });
    log.end('finished');
    return finished;
  } catch (error) {
    title.close();
    await writer.stop().catch(() => undefined);
    endFailed(production, error);
    throw error;
  }
}

/** Whether the turn is left to whoever sends its message again; a cancelled one ends here all the same. */
const isLeft = ({ cancelled, givenUp }: Production) => givenUp.aborted && !cancelled.signal.aborted;

/** The answer, and the turn as its model was chosen for that. */
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
    const isCut = () => isLeft(production);
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

/** The answer of a turn that was cancelled before anybody asked the model. */
const unasked = ({ progress, call }: BegunTurn): TurnAnswer => ({
  ...progress,
  isUnreported: false,
  sentContents: 0,
  sent: call.sent,
  isWaiting: false,
});

/** The answer ended without being stored: the readers learn it, unless another attempt goes on with it. */
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

type ReadTurn = Pick<Production, 'begun' | 'locale' | 'log'>;

interface Reader {
  reading: Reading;
  left: AbortSignal | undefined;
}

/**
 * The frames of a turn for a reader. Of one that goes on after a pause, who comes without a cursor, or with one from
 * before it, gets what was stored then first. The one whose request made the turn go on has all of that.
 */
function readAcrossPause(
  dependencies: ChatDependencies,
  turn: ReadTurn,
  { reading, left }: Reader,
): AsyncIterableIterator<StreamFrame, Abandoned | undefined> {
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

/** The frames of the log; when another instance has taken the turn over, those of its attempt too. */
function readLog(
  dependencies: ChatDependencies,
  { begun, locale, log }: ReadTurn,
  { reading, left }: Reader,
): AsyncIterableIterator<StreamFrame, Abandoned | undefined> {
  const { conversationId, seq } = begun.attempt;
  return chainIterators(log.frames(reading), ({ end, cursor }) =>
    end === 'finished'
      ? undefined
      : followFrames(dependencies, { conversationId, seq, cursor, locale, left }),
  );
}
