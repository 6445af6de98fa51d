import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { TitleOfTurn } from '#functions/chat/features/titles.ts';
import { publishOverdue, publishRequest } from '#functions/events/publish-request.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { isFinal } from '#shared/conversation/documents/turn.ts';
import type { FinishBatch } from '#shared/conversation/writes/turn-writes.ts';
import { AppError } from '#shared/errors.ts';
import { usageBeyond } from '../answer/add-usage.ts';
import type { FinishedTurn, FrameLog, Subscribers } from '../live/live-turn.ts';
import { closingChunks } from '../live/turn-frames.ts';
import type { BegunTurn } from '../start/begun-turn.ts';
import type { TurnAnswer } from '../store/turn-progress.ts';
import type { TurnWriter } from '../store/turn-writer.ts';
import { finishedTurn, viewAfterFinish } from './after-finish.ts';
import { commitFinish } from './commit-finish.ts';
import { endTurn } from './end-turn.ts';
import { logFinished, type TurnTimes } from './log-finished.ts';
import { publishFinished } from './publish-finished.ts';
import { requestAtEnd } from './request-at-end.ts';
import { settleStored, settleUnstored } from './settle-answer.ts';

/** A turn whose answer is there, and all who are to hear of its end. */
interface Ending {
  begun: BegunTurn;
  messageId: string;
  locale: string | undefined;
  answer: TurnAnswer;
  isCancelled: boolean;
  /** The model was called. */
  isAsked: boolean;
  writer: TurnWriter;
  log: Pick<FrameLog, 'emit' | 'preview'>;
  audience: Pick<Subscribers, 'present'>;
  times: TurnTimes;
  title: Pick<TitleOfTurn, 'answered'>;
}

async function publishOfRequest(
  dependencies: ChatDependencies,
  begun: BegunTurn,
  batch: FinishBatch,
) {
  const { conversationId } = batch;
  const compactionRequest = batch.compactionRequest ?? begun.replacementRequest;
  if (compactionRequest)
    await publishRequest(dependencies, {
      conversationId,
      requestId: compactionRequest.requestId,
      trigger: compactionRequest.trigger,
      beforeTokens: batch.meter?.tokens,
    });
  else
    await publishOverdue(
      dependencies,
      conversationId,
      begun.context.conversation.compactionRequests,
    );
}

/** Tells the log, the quota and the workers how a turn has ended. */
async function settle(
  dependencies: ChatDependencies,
  ending: Ending,
  batch: FinishBatch,
): Promise<void> {
  const { begun, answer, times } = ending;
  const unsettled = { ...batch, usage: usageBeyond(batch.usage, begun.progress.settled) };
  logFinished(dependencies, { ...unsettled, detail: answer.error?.message }, times);
  await Promise.all([
    publishOfRequest(dependencies, begun, batch),
    settleStored(ending, unsettled),
  ]);
  await passCrashPoint(dependencies, 'turn-published');
}

/** Stores the end of a turn. Throws TURN_TAKEN_OVER, StoreUnavailableError. */
async function storeEnd(dependencies: ChatDependencies, ending: Ending) {
  const { begun, answer, isCancelled, writer, log } = ending;
  const now = dependencies.clock.now();
  const requestId = dependencies.randomness.uuid();
  const batch = endTurn(dependencies, { begun, answer, isCancelled, now, requestId });
  const decideRequest = () => requestAtEnd(dependencies, begun, batch);
  const decided = await decideRequest();
  const context = viewAfterFinish(dependencies, ending, {
    ...batch,
    compactionRequest: decided.compactionRequest,
  });
  const closing = closingChunks({ turn: batch, error: batch.error, context });
  await passCrashPoint(dependencies, 'before-finish');
  const compactionRequest = await commitFinish(dependencies, {
    batch,
    attempt: begun.attempt,
    writer,
    closing: log.preview(closing),
    status: decided.compactionRequest && context,
    decided,
    decideAgain: decideRequest,
  });
  return { batch: { ...batch, compactionRequest }, context, closing };
}

/**
 * Stores the end of a turn, then tells its readers and the workers. What it took is charged, whether it could be stored
 * or not. Throws TURN_TAKEN_OVER, StoreUnavailableError.
 */
export async function finishTurn(
  dependencies: ChatDependencies,
  ending: Ending,
): Promise<FinishedTurn> {
  const { begun, answer, log, audience, title } = ending;
  const { batch, context, closing } = await storeEnd(dependencies, ending).catch(
    async (error: unknown) => {
      if (error instanceof AppError) await settleUnstored(dependencies, ending);
      throw error;
    },
  );
  await passCrashPoint(dependencies, 'turn-finished');
  const isAttended = audience.present().length > 0;
  publishFinished(dependencies, { batch, turn: begun.turn, isAttended });
  const turn = finishedTurn(ending, batch);
  const { epoch, generation } = begun.context.conversation;
  if (isFinal(turn)) dependencies.cache.keepTurn(epoch, { turn, loadedAt: generation });
  for (const chunk of closing) log.emit(chunk);
  if (turn.inContext) title.answered(turn.contents.map(contentText).join('\n'));
  await settle(dependencies, ending, batch);
  return { turn, context, replayed: false, shrinkage: answer.sent.shrinkage };
}
