import { addAfterwork, type ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { TitleOfTurn } from '#functions/chat/features/titles.ts';
import { publishOverdue, publishRequest } from '#functions/events/publish-request.ts';
import { runAfterTurn } from '#functions/events/run-after-turn.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { contentText } from '#shared/models/content.ts';
import { isFinal } from '#shared/conversation/documents/turn.ts';
import { type TurnEnd, finishWrites } from '#shared/conversation/writes/turn-writes.ts';
import { AppError, mayBeCommitted } from '#shared/lib/errors.ts';
import { settleStored, settleUnstored } from './settle-answer.ts';
import { usageBeyond } from '../usage.ts';
import type { FinishedTurn, FrameLog, Subscribers } from '../live-turn.ts';
import { closingChunks } from '../stream/turn-frames.ts';
import type { BegunTurn, TurnAnswer } from '../start/begun-turn.ts';
import type { TurnWriter } from '../answer/turn-writer.ts';
import {
  finishedTurn,
  viewAfterFinish,
  endTurn,
  requestAtEnd,
  type RequestAtEnd,
} from './end-turn.ts';
import { takenOverError } from '../turn-errors.ts';
import { publishTurnFinished, publishTurnWaiting } from '#functions/events/publish-turn-event.ts';
import { turnId } from '#shared/conversation/documents/paths.ts';
import { statusWrite } from '#shared/wire/status-write.ts';
import { loopKind } from '#shared/conversation/call-loop.ts';
import { afterTurnWrite } from '#shared/hooks/after-turn.ts';
import type { Clock } from '#shared/ports/ports.ts';
import type { ContextObject } from '#shared/wire/resources/context-object.ts';
import type { StreamFrame, StreamChunk } from '#shared/wire/resources/streams.ts';

/** How often a finish is tried before the turn is left to its lease. */
const FINISH_TRIES = 5;
const FINISH_RETRY_MS = 100;

/** JSON of frames that the finish stores beside the answer, bytes; what is more is flushed before. */
const FINISH_FRAMES_BYTES = 512 * 1024;

/** A turn whose answer is there, with what its finish needs. */
interface Ending {
  begun: BegunTurn;
  answer: TurnAnswer;
  /** Has fired, or fires while the end is stored, where the turn was asked to stop. */
  cancelled: AbortSignal;
  /** The model was called. */
  isAsked: boolean;
  writer: TurnWriter;
  log: Pick<FrameLog, 'emit' | 'preview'>;
  audience: Pick<Subscribers, 'present'>;
  times: Pick<TurnTimes, 'startMs' | 'firstTokenMs'>;
  title: Pick<TitleOfTurn, 'answered'>;
}

/**
 * Stores the end of a turn, then tells its readers and the workers. Charges what the turn took, also where its end
 * could not be stored. Throws TURN_TAKEN_OVER, StoreUnavailableError.
 */
export async function finishTurn(
  dependencies: ChatDependencies,
  ending: Ending,
): Promise<FinishedTurn> {
  const { begun, answer, log, title } = ending;
  const { end, context, closing } = await storeEnd(dependencies, ending).catch(
    async (error: unknown) => {
      if (error instanceof AppError) await settleUnstored(dependencies, ending);
      throw error;
    },
  );
  await passCrashPoint(dependencies, 'turn-finished');
  publishFinished(dependencies, ending, end);
  const turn = finishedTurn(begun, end);
  const { epoch, generation } = begun.context.conversation;
  if (isFinal(turn)) dependencies.cache.keepTurn(epoch, { turn, loadedAt: generation });
  for (const chunk of closing) log.emit(chunk);
  if (turn.inContext) title.answered(turn.contents.map(contentText).join('\n'));
  const endOfAttempt = { ...end, usage: usageBeyond(end.usage, begun.progress.settled) };
  logFinished(dependencies, ending, endOfAttempt);
  if (dependencies.afterTurn && end.state === 'done') {
    const { shutdown: signal } = dependencies;
    const ran = () => passCrashPoint(dependencies, 'after-turn-ran');
    addAfterwork(dependencies, runAfterTurn(dependencies, end, { signal, ran }));
  }
  await Promise.all([
    publishOfRequest(dependencies, begun, end),
    settleStored(ending, endOfAttempt),
  ]);
  await passCrashPoint(dependencies, 'turn-published');
  return { turn, context, replayed: false, shrinkage: answer.sent.shrinkage };
}

/**
 * Stores the end of a turn. One that was asked to stop while its pause was being stored ends as cancelled, unless the
 * pause turns out to stand. Throws TURN_TAKEN_OVER, StoreUnavailableError.
 */
async function storeEnd(dependencies: ChatDependencies, ending: Ending) {
  const wanted = await storeEndAs(dependencies, ending, ending.cancelled.aborted);
  if (wanted.outcome !== 'askedToStop') return wanted;
  const stopped = await storeEndAs(dependencies, ending, true);
  return stopped.outcome === 'pauseStands' ? wanted : stopped;
}

async function storeEndAs(dependencies: ChatDependencies, ending: Ending, isCancelled: boolean) {
  const { begun, answer, log } = ending;
  const now = dependencies.clock.now();
  const requestId = dependencies.randomness.uuid();
  const end = endTurn(dependencies, { begun, answer, isCancelled, now, requestId });
  const request = await requestAtEnd(dependencies, begun, end);
  const { compactionRequest } = request;
  const context = viewAfterFinish(dependencies, begun, { ...end, compactionRequest });
  const closing = closingChunks({ turn: end, error: end.error, context });
  await passCrashPoint(dependencies, 'before-finish');
  const { outcome, ...told } = await commitFinish(dependencies, ending, {
    end,
    closing: log.preview(closing),
    status: compactionRequest && context,
    request,
  });
  return { outcome, end: { ...end, ...told }, context, closing };
}

/** What became of a try to end a turn. */
interface Commitment extends Pick<TurnEnd, 'compactionRequest'> {
  /**
   * `askedToStop`: whether the pause is stored is unknown, and the turn has been asked to stop; `pauseStands`: the turn was
   * to end, but its pause had been stored before.
   */
  outcome: 'stored' | 'askedToStop' | 'pauseStands';
}

/**
 * Commits the end of a turn, or its pause, with the frames that are not stored yet and the closing ones. A lost reply
 * and a lost guard look the same from here, so a failed try reads the turn: if it stands
 * as was wanted, the try succeeded. Resolves to the outcome, and the compaction request that the workers are to be told of. Throws
 * TURN_TAKEN_OVER, StoreUnavailableError.
 */
async function commitFinish(
  dependencies: ChatDependencies,
  { begun, cancelled, writer }: Pick<Ending, 'begun' | 'cancelled' | 'writer'>,
  finish: {
    end: TurnEnd;
    closing: readonly StreamFrame[];
    /** Told to the owner's devices in the same batch; absent when the state of compaction stays. */
    status: ContextObject | undefined;
    request: RequestAtEnd;
  },
): Promise<Commitment> {
  const { store, clock } = dependencies;
  const { attempt } = begun;
  const { end, closing, status } = finish;
  let { request } = finish;
  /** Of the first try that asked: a lost reply hides which try was applied, and one event too many does no harm. */
  let maybeCommitted = request.compactionRequest;
  const lastFrameId = closing.at(-1)?.id ?? 0;
  for (let tries = 1; ; tries++) {
    try {
      await writer.flushDownTo(FINISH_FRAMES_BYTES);
      const { conversationId } = attempt;
      const statusWrites = status ? [await statusWrite(store, conversationId, { ...status })] : [];
      const streamEnd = end.waitsUntil ? 'pause' : 'final';
      const lastChunks = writer.last(closing, { end: streamEnd, now: end.now });
      const stream = { writes: lastChunks, lastFrameId };
      const turnUpdateTime = writer.turnUpdateTime();
      const { ownerUid: ownerAtStart, answered: answeredBefore } = begun.context.conversation;
      // Who has taken the conversation over since the start has changed the turn: both are of one reading.
      const ownerUid = writer.movedTo() ?? ownerAtStart;
      const target = { ownerUid, answeredBefore, turnUpdateTime };
      const writes = finishWrites({ ...end, ...request, ...target, stream });
      const afterTurn =
        dependencies.afterTurn && end.state === 'done' ? [afterTurnWrite(end, end.now)] : [];
      await store.commit([...writes, ...writer.obsoletePieces(), ...statusWrites, ...afterTurn]);
      return { outcome: 'stored', compactionRequest: request.compactionRequest };
    } catch (error) {
      if (!mayBeCommitted(error)) throw error;
      await clock.wait(FINISH_RETRY_MS * (tries - 1));
      const standing = await writer.reread().catch(() => 'own' as const);
      const told = { compactionRequest: maybeCommitted };
      if (standing === 'paused')
        return { outcome: end.waitsUntil ? 'stored' : 'pauseStands', ...told };
      if (standing === 'ended') return { outcome: 'stored', ...told };
      if (standing === 'lost') throw takenOverError();
      if (end.waitsUntil && cancelled.aborted) return { outcome: 'askedToStop', ...told };
      if (tries >= FINISH_TRIES) throw error;
      // The last try does not wait for a conversation document that others keep changing: a needless request ends as
      // NOOP.
      request =
        tries < FINISH_TRIES - 1
          ? await requestAtEnd(dependencies, begun, end)
          : { compactionRequest: end.compactionRequest };
      maybeCommitted ??= request.compactionRequest;
    }
  }
}

/**
 * Publishes the compaction request of the turn, or of its replacement of others; else one that has waited for too
 * long.
 */
async function publishOfRequest(
  dependencies: ChatDependencies,
  { context, replacementRequest }: BegunTurn,
  end: TurnEnd,
): Promise<void> {
  const { conversationId } = end;
  const compactionRequest = end.compactionRequest ?? replacementRequest;
  if (!compactionRequest)
    return publishOverdue(dependencies, conversationId, context.conversation.compactionRequests);
  await publishRequest(dependencies, {
    conversationId,
    requestId: compactionRequest.requestId,
    trigger: compactionRequest.trigger,
    beforeTokens: end.meter?.tokens,
  });
}

/**
 * Publishes how a turn has ended, or that it waits for the app. Runs as afterwork: the request waits for it, the stream
 * does not.
 */
function publishFinished(
  dependencies: ChatDependencies,
  { begun, audience }: Pick<Ending, 'begun' | 'audience'>,
  { conversationId, seq, attempt, state, error, rounds }: TurnEnd,
): void {
  const { replaces } = begun.turn;
  const isAttended = audience.present().length > 0;
  if (state !== 'awaiting_tool') {
    const turn = { seq, attempt, replaces, state, reason: error?.reason };
    addAfterwork(
      dependencies,
      publishTurnFinished(dependencies, conversationId, { turn, isAttended }),
    );
  } else if (rounds) {
    const turn = { seq, attempt, replaces, round: rounds.count };
    addAfterwork(
      dependencies,
      publishTurnWaiting(dependencies, conversationId, { turn, isAttended }),
    );
  }
}

/** Times of a production, for its line in the log. */
interface TurnTimes {
  readonly startMs: number;
  /** When the first word was passed on to readers; absent before. */
  firstTokenMs: number | undefined;
  /** Notices the first word. */
  see(chunk: StreamChunk): void;
}

/** The production begins now. */
export function createTurnTimes(clock: Pick<Clock, 'now'>): TurnTimes {
  const times: TurnTimes = {
    startMs: clock.now().getTime(),
    firstTokenMs: undefined,
    see: ({ type }) => {
      if (type === 'text-delta') times.firstTokenMs ??= clock.now().getTime();
    },
  };
  return times;
}

/** Logs one line for every turn that ended. `end.usage` is what this attempt took: earlier ones have logged theirs. */
function logFinished(
  { logger }: Pick<ChatDependencies, 'logger'>,
  { answer, times: { startMs, firstTokenMs } }: Pick<Ending, 'answer' | 'times'>,
  end: TurnEnd,
): void {
  logger.log(end.state === 'failed' ? 'WARNING' : 'INFO', 'turn_finished', {
    conversationId: end.conversationId,
    turnId: turnId(end.seq),
    attempt: end.attempt,
    state: end.state,
    reason: end.error?.reason,
    detail: end.error && answer.error?.message,
    loop: loopKind(end.finishReason),
    promptTokens: end.usage?.promptTokens,
    cachedTokens: end.usage?.cachedTokens,
    outputTokens: end.usage?.outputTokens,
    searches: end.usage?.searches,
    costMicros: end.usage?.costMicros,
    compactionRequested: end.compactionRequest !== undefined,
    firstTokenMs: firstTokenMs === undefined ? undefined : firstTokenMs - startMs,
    durationMs: end.now.getTime() - startMs,
  });
}
