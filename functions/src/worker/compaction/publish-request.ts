import { requestEvent } from '#shared/compaction/decisions/event.ts';
import type { CompactionNeeded } from '#shared/conversation/documents/head.ts';
import { publishBestEffort } from '#functions/events/publish-best-effort.ts';
import { publishCompactionRequested } from '#functions/events/publish-compaction-event.ts';
import type { CompactionDependencies } from './compaction-dependencies.ts';

/** Tells the workers, and whoever listens, of a need that a worker has found. Never throws. */
export async function publishNeed(
  dependencies: Pick<CompactionDependencies, 'publisher' | 'logger'>,
  conversationId: string,
  { requestId, trigger }: NonNullable<CompactionNeeded['auto']>,
): Promise<void> {
  await Promise.all([
    publishBestEffort(dependencies, {
      event: requestEvent({ conversationId, requestId }),
      failure: 'compaction_publish_failed',
      conversationId,
    }),
    publishCompactionRequested(dependencies, { conversationId, requestId, trigger }),
  ]);
}
