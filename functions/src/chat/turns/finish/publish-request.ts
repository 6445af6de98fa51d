import { requestEvent } from '#shared/compaction/decisions/event.ts';
import { REPUBLISH_AFTER_MS } from '#shared/compaction/trigger/sweep-decision.ts';
import type { CompactionNeeded } from '#shared/conversation/documents/head.ts';
import { publishBestEffort } from '#functions/events/publish-best-effort.ts';
import {
  publishCompactionRequested,
  type CompactionEvent,
} from '#functions/events/publish-compaction-event.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';

const hintAtNeed = (
  dependencies: Pick<ChatDependencies, 'publisher' | 'logger'>,
  { conversationId, requestId }: { conversationId: string; requestId: string },
) =>
  publishBestEffort(dependencies, {
    event: requestEvent({ conversationId, requestId }),
    failure: 'compaction_publish_failed',
    conversationId,
  });

/**
 * Tells the workers to look at a conversation, and whoever listens that a compaction was asked for. Only a
 * hint: the need stands in the head.
 */
export async function publishRequest(
  dependencies: Pick<ChatDependencies, 'publisher' | 'logger'>,
  request: Pick<CompactionEvent, 'conversationId' | 'requestId' | 'trigger' | 'beforeTokens'>,
): Promise<void> {
  await Promise.all([
    hintAtNeed(dependencies, request),
    publishCompactionRequested(dependencies, request),
  ]);
}

/**
 * Publishes a need that waits in the head for longer than a compaction takes: its event was lost, or its
 * worker died. The sweep does it every five minutes; a request that meets such a need does not wait for it.
 */
export async function publishOverdue(
  dependencies: Pick<ChatDependencies, 'publisher' | 'logger' | 'clock'>,
  conversationId: string,
  needed: CompactionNeeded,
): Promise<void> {
  const waiting = needed.manual ?? needed.auto;
  if (!waiting) return;
  const waitedMs = dependencies.clock.now().getTime() - waiting.since.getTime();
  if (waitedMs <= REPUBLISH_AFTER_MS) return;
  await hintAtNeed(dependencies, { conversationId, requestId: waiting.requestId });
}
