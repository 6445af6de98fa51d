import { turnId } from '#shared/conversation/documents/paths.ts';
import type { FinishBatch } from '#shared/conversation/writes/turn-writes.ts';
import { loopKind } from '#shared/loops/loop-reasons.ts';
import type { Clock } from '#shared/ports/ports.ts';
import type { StreamChunk } from '#shared/wire/resources/streams.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';

/** What of a production's course is logged. */
export interface TurnTimes {
  readonly startMs: number;
  /** When the first word was passed on to readers; absent before. */
  readonly firstTokenMs?: number;
  /** Notices the first word. */
  see(chunk: StreamChunk): void;
}

/** Begins with now. */
export function createTurnTimes(clock: Pick<Clock, 'now'>): TurnTimes {
  const times: { startMs: number; firstTokenMs?: number } = { startMs: clock.now().getTime() };
  return Object.assign(times, {
    see: ({ type }: StreamChunk) => {
      if (type === 'text-delta') times.firstTokenMs ??= clock.now().getTime();
    },
  });
}

/**
 * One line for every turn that ended. `detail`: what its error says for logs. `usage` is what this attempt took: what earlier ones took stands in theirs.
 */
export function logFinished(
  { logger }: Pick<ChatDependencies, 'logger'>,
  batch: FinishBatch & { detail: string | undefined },
  { startMs, firstTokenMs }: Pick<TurnTimes, 'startMs' | 'firstTokenMs'>,
): void {
  logger.log(batch.state === 'failed' ? 'WARNING' : 'INFO', 'turn_finished', {
    conversationId: batch.conversationId,
    turnId: turnId(batch.seq),
    attempt: batch.attempt,
    state: batch.state,
    reason: batch.error?.reason,
    detail: batch.error && batch.detail,
    loop: loopKind(batch.finishReason),
    promptTokens: batch.usage?.promptTokens,
    cachedTokens: batch.usage?.cachedTokens,
    outputTokens: batch.usage?.outputTokens,
    searches: batch.usage?.searches,
    costMicros: batch.usage?.costMicros,
    compactionRequested: batch.compactionRequest !== undefined,
    firstTokenMs: firstTokenMs === undefined ? undefined : firstTokenMs - startMs,
    durationMs: batch.now.getTime() - startMs,
  });
}
