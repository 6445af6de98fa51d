import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { routeTurn } from '#functions/chat/features/route-turn.ts';
import { titleOfTurn } from '#functions/chat/features/titles.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { timeoutAfter } from '#functions/lib/deadline.ts';
import { AppError } from '#shared/errors.ts';
import type { StreamChunk } from '#shared/wire/resources/streams.ts';
import { finishTurn } from '../finish/finish-turn.ts';
import { createTurnTimes } from '../finish/log-finished.ts';
import { settleUnstored } from '../finish/settle-answer.ts';
import type { Subscribers, FinishedTurn, FrameLog, LogEnd } from '../live/live-turn.ts';
import { openingChunks } from '../live/turn-frames.ts';
import type { BegunTurn } from '../start/begun-turn.ts';
import type { TurnAnswer } from '../store/turn-progress.ts';
import { createTurnWriter, type TurnWriter } from '../store/turn-writer.ts';
import { shuttingDownError, StreamCutError } from '../stream/stream-cut.ts';
import { answerTurn } from './answer-turn.ts';
import { timeoutError } from './stream-answer.ts';
import { isTakenOver } from './taken-over.ts';

interface Production {
  begun: BegunTurn;
  messageId: string;
  locale: string | undefined;
  /** Where readers of this instance read. */
  log: Pick<FrameLog, 'emit' | 'preview' | 'end'>;
  /** Who waits for the answer in this instance. */
  audience: Pick<Subscribers, 'present'>;
  /** Fired by a cancellation here, and by this production when it finds one in the store. */
  cancelled: AbortController;
  /** Fires when the process ends and cannot wait for the answer. */
  givenUp: AbortSignal;
}

/** Whether the turn is left to whoever sends its message again; a cancelled one ends here all the same. */
const isLeft = ({ cancelled, givenUp }: Production) => givenUp.aborted && !cancelled.signal.aborted;

/** What is told of the answer and of its frames. */
type Tell = (chunk: StreamChunk) => number;

/** The answer, and the turn as its model was chosen for that. */
interface Answered {
  begun: BegunTurn;
  answer: TurnAnswer;
}

async function answerWithin(
  dependencies: ChatDependencies,
  production: Production,
  to: { writer: TurnWriter; emit: Tell },
): Promise<Answered> {
  const { cancelled, givenUp } = production;
  const { writer, emit } = to;
  writer.start();
  const { conversationId, seq } = production.begun.attempt;
  const timeoutMs = dependencies.config.TURN_TIMEOUT_MS;
  const timeout = timeoutAfter(dependencies, timeoutMs);
  const signal = AbortSignal.any([writer.lost, timeout.signal, cancelled.signal, givenUp]);
  try {
    const begun = await routeTurn(dependencies, production.begun, { writer, signal });
    const answer = await answerTurn(dependencies, {
      begun,
      writer,
      emit,
      signal,
      isCut: () => isLeft(production),
    });
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

function endOf(error: unknown): LogEnd {
  if (error instanceof StreamCutError) return 'givenUp';
  return isTakenOver(error) ? 'lost' : 'finished';
}

/** The answer ended without being stored: the readers learn it, unless another attempt goes on with it. */
function endFailed({ begun, log }: Production, error: unknown): void {
  const end = endOf(error);
  if (end === 'finished') {
    const errorText =
      error instanceof AppError ? error.publicMessage : 'The answer could not be stored.';
    const { generation } = begun.context.conversation;
    log.emit({ type: 'error', errorText });
    log.emit({ type: 'finish', finishReason: 'error', messageMetadata: { generation } });
  }
  log.end(end);
}

const firstChunks = ({ attempt, context, call, progress }: BegunTurn): StreamChunk[] =>
  openingChunks({
    ...attempt,
    generation: context.conversation.generation,
    replayed: false,
    shrinkage: call.sent.shrinkage,
    isResumed: progress.isResumed,
    rounds: progress.rounds?.count,
  });

/**
 * Answers a turn that this instance owns: model, finish, publish, in a straight line. The frames end
 * after the publish, so that an instance keeps its CPU until all is done.
 * Resolves for every turn that was stored, failed and cancelled ones included; throws when it could not
 * be stored, when another instance has it (TURN_TAKEN_OVER), or when it was given up (SHUTTING_DOWN).
 */
export async function produceTurn(
  dependencies: ChatDependencies,
  production: Production,
): Promise<FinishedTurn> {
  const { log, cancelled } = production;
  const { attempt, progress } = production.begun;
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
    for (const chunk of firstChunks(production.begun)) emit(chunk);
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
