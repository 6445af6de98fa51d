import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { viewContext } from '#functions/chat/context/view-context.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { withWholePairs, type Turn } from '#shared/conversation/documents/turn.ts';
import type { FinishBatch } from '#shared/conversation/writes/turn-writes.ts';
import { recalledView } from '#shared/wire/resources/turns.ts';
import type { BegunTurn, ContextAtStart } from '../start/begun-turn.ts';

/** The conversation document as the finish leaves it, without reading it again. */
const conversationAfter = (
  { conversation, nextModel }: ContextAtStart,
  batch: FinishBatch,
): Conversation => ({
  ...conversation,
  model: nextModel,
  lastSeq: Math.max(conversation.lastSeq, batch.seq),
  context: batch.meter ?? conversation.context,
  compactionRequests: {
    ...conversation.compactionRequests,
    ...(batch.compactionRequest && { auto: batch.compactionRequest }),
  },
});

/** The turn as the finish stores it, without reading it again. */
export const finishedTurn = (
  { begun, messageId }: { begun: BegunTurn; messageId: string },
  batch: FinishBatch,
): Turn =>
  withWholePairs({
    schemaVersion: 1,
    seq: batch.seq,
    messageId,
    state: batch.state,
    attempt: batch.attempt,
    producer: begun.attempt.producer,
    leaseUntil: batch.waitsUntil ?? batch.now,
    createTime: begun.turn.createTime,
    ...(!batch.waitsUntil && { finishTime: batch.now }),
    tokens: { user: batch.userTokens, answer: batch.answerTokens },
    usage: batch.usage,
    repairs: batch.repairs,
    leftOutFiles: batch.leftOutFiles,
    model: begun.context.conversation.model,
    routing: batch.routing,
    recalled: batch.recalled,
    grounding: batch.grounding,
    finishReason: batch.finishReason,
    error: batch.error,
    inContext: batch.inContext,
    retention: begun.turn.retention,
    replaces: begun.turn.replaces,
    surroundings: begun.turn.surroundings,
    describedClient: begun.turn.describedClient,
    ...(batch.state === 'cancelled' && { cancelRequested: true }),
    user: begun.turn.user,
    contents: [...batch.contents],
    rounds: batch.rounds,
    ...(batch.unanswered && { unanswered: batch.unanswered }),
  });

/** The context as its readers see it once the finish is stored. */
export function viewAfterFinish(
  dependencies: Pick<ChatDependencies, 'clock' | 'config' | 'sha256'>,
  production: { begun: BegunTurn; messageId: string; locale: string | undefined },
  batch: FinishBatch,
) {
  const { begun, locale } = production;
  const context = viewContext(dependencies, {
    ...begun.context,
    conversation: conversationAfter(begun.context, batch),
    turns: [...begun.context.turns, finishedTurn(production, batch)],
    meter: batch.meter,
    locale,
  });
  return { ...context, ...recalledView(batch) };
}
