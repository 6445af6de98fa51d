import type { Head } from '#shared/conversation/documents/head.ts';
import { withWholePairs, type Turn } from '#shared/conversation/documents/turn.ts';
import type { FinishBatch } from '#shared/conversation/writes/turn-writes.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { recalledView } from '#shared/wire/resources/recalled.ts';
import { viewContext } from '#functions/chat/context/view-context.ts';
import type { BegunTurn } from '../start/begin-turn.ts';

/** The head as the finish leaves it, without reading it again. */
const headAfter = (begun: BegunTurn, batch: FinishBatch): Head => ({
  ...begun.head,
  model: begun.nextModel,
  lastSeq: Math.max(begun.head.lastSeq, batch.seq),
  context: batch.meter ?? begun.head.context,
  compactionNeeded: {
    ...begun.head.compactionNeeded,
    ...(batch.need && { auto: batch.need }),
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
    createTime: begun.createTime,
    ...(!batch.waitsUntil && { finishTime: batch.now }),
    tokens: { user: batch.userTokens, answer: batch.answerTokens },
    usage: batch.usage,
    repairs: batch.repairs,
    model: begun.head.model,
    routing: batch.routing,
    recalled: batch.recalled,
    finishReason: batch.finishReason,
    error: batch.error,
    inContext: batch.inContext,
    retention: begun.retention,
    replaces: begun.replaces,
    surroundings: begun.surroundings,
    told: begun.told,
    ...(batch.state === 'cancelled' && { cancelRequested: true }),
    user: begun.user,
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
    ...begun,
    head: headAfter(begun, batch),
    turns: [...begun.turns, finishedTurn(production, batch)],
    meter: batch.meter,
    locale,
  });
  return { ...context, ...recalledView(batch) };
}
