import type { Content } from '../../../shared/conversation/content.ts';
import type { Head } from '../../../shared/conversation/head.ts';
import { contextTokens } from '../../../shared/conversation/meter.ts';
import { turnId } from '../../../shared/conversation/paths.ts';
import { isFinal, type Turn } from '../../../shared/conversation/turn.ts';
import type { FinishBatch } from '../../../shared/conversation/turn-writes.ts';
import { AppError } from '../../../shared/errors.ts';
import type { BegunTurn } from './begin-turn.ts';
import type { ChatDependencies } from './chat-dependencies.ts';
import { commitFinish, endTurn } from './finish-turn.ts';
import { keepLease } from './lease-keeper.ts';
import type { FinishedTurn, LiveTurn } from './live-turn.ts';
import { publishOverdue, publishRequest } from './publish-request.ts';
import { streamAnswer } from './stream-answer.ts';
import { closingChunks, startChunk } from './turn-frames.ts';
import { viewContext } from './view-context.ts';

export interface Production {
  begun: BegunTurn;
  messageId: string;
  user: Content;
  locale: string | undefined;
  live: Pick<LiveTurn, 'emit' | 'end'>;
}

/** The head as the finish leaves it, without reading it again. */
const headAfter = (begun: BegunTurn, batch: FinishBatch): Head => ({
  ...begun.head,
  lastSeq: batch.seq,
  context: batch.meter ?? begun.head.context,
  compactionNeeded: {
    ...begun.head.compactionNeeded,
    ...(batch.need && { auto: batch.need }),
  },
});

const finishedTurn = (production: Production, batch: FinishBatch): Turn => ({
  schemaVersion: 1,
  seq: batch.seq,
  messageId: production.messageId,
  state: batch.state,
  attempt: batch.attempt,
  producer: production.begun.attempt.producer,
  leaseUntil: batch.now,
  createTime: production.begun.createTime,
  finishTime: batch.now,
  tokens: { user: batch.userTokens, answer: batch.answerTokens },
  usage: batch.usage,
  finishReason: batch.finishReason,
  error: batch.error,
  inContext: batch.inContext,
  user: production.user,
  contents: [...batch.contents],
});

async function publishNeed(dependencies: ChatDependencies, begun: BegunTurn, batch: FinishBatch) {
  const { conversationId, need } = batch;
  if (need) await publishRequest(dependencies, { conversationId, requestId: need.requestId });
  else await publishOverdue(dependencies, conversationId, begun.head.compactionNeeded);
}

const timeoutError = (
  { conversationId, seq }: BegunTurn['attempt'],
  { config }: ChatDependencies,
) =>
  new AppError({
    status: 'DEADLINE_EXCEEDED',
    reason: 'MODEL_TIMEOUT',
    message: `turn ${seq} of ${conversationId} had no complete answer after ${config.TURN_TIMEOUT_MS} ms`,
    publicMessage: 'The model did not finish in time. Send the same message again.',
    retryable: true,
  });

async function callModel(dependencies: ChatDependencies, production: Production) {
  const { begun, live } = production;
  const lease = keepLease(dependencies, begun.attempt);
  const timeout = AbortSignal.timeout(dependencies.config.TURN_TIMEOUT_MS);
  const answer = await streamAnswer(dependencies, {
    request: { ...begun.prompt, role: 'chat', promptId: turnId(begun.attempt.seq) },
    signal: AbortSignal.any([lease.lost, timeout]),
    live,
  });
  await lease.stop();
  if (answer.error && timeout.aborted) answer.error = timeoutError(begun.attempt, dependencies);
  return answer;
}

function view(dependencies: ChatDependencies, production: Production, batch: FinishBatch) {
  const head = headAfter(production.begun, batch);
  const meter = contextTokens({ ...production.begun, head });
  return viewContext(dependencies, {
    head,
    tokens: meter.tokens,
    tokensSource: meter.source,
    job: production.begun.job,
    locale: production.locale,
  });
}

const logFinished = (dependencies: ChatDependencies, batch: FinishBatch, startMs: number) =>
  dependencies.logger.log(batch.state === 'failed' ? 'WARNING' : 'INFO', 'turn_finished', {
    conversationId: batch.conversationId,
    turnId: turnId(batch.seq),
    attempt: batch.attempt,
    state: batch.state,
    reason: batch.error?.reason,
    promptTokens: batch.usage?.promptTokens,
    outputTokens: batch.usage?.outputTokens,
    compactionRequested: batch.need !== undefined,
    durationMs: batch.now.getTime() - startMs,
  });

/**
 * Answers a turn that this instance owns: model, finish, publish, in a straight line. The frames end
 * after the publish, so that an instance keeps its CPU until all is done.
 * Resolves for every turn that was stored, failed ones included; throws when it could not be stored.
 */
export async function produceTurn(
  dependencies: ChatDependencies,
  production: Production,
): Promise<FinishedTurn> {
  const { begun, live } = production;
  const { conversationId, seq } = begun.attempt;
  const startMs = dependencies.clock.now().getTime();
  try {
    live.emit(
      startChunk({ conversationId, seq, generation: begun.head.generation, replayed: false }),
    );
    await dependencies.atCrashPoint('turn-started');
    const answer = await callModel(dependencies, production);
    await dependencies.atCrashPoint('answer-streamed');
    const batch = endTurn(dependencies, {
      begun,
      answer,
      now: dependencies.clock.now(),
      requestId: dependencies.randomness.uuid(),
    });
    const context = view(dependencies, production, batch);
    const status = batch.need && context;
    await commitFinish(dependencies, { batch, own: begun.attempt, status });
    await dependencies.atCrashPoint('turn-finished');
    const turn = finishedTurn(production, batch);
    if (isFinal(turn))
      dependencies.cache.keepTurn(begun.head.epoch, { turn, loadedAt: begun.head.generation });
    for (const chunk of closingChunks({ turn, error: batch.error, context })) live.emit(chunk);
    logFinished(dependencies, batch, startMs);
    await publishNeed(dependencies, begun, batch);
    return { turn, context, replayed: false };
  } catch (error) {
    const publicMessage =
      error instanceof AppError ? error.publicMessage : 'The answer could not be stored.';
    live.emit({ type: 'error', errorText: publicMessage });
    live.emit({
      type: 'finish',
      finishReason: 'error',
      messageMetadata: { generation: begun.head.generation },
    });
    throw error;
  } finally {
    live.end();
  }
}
