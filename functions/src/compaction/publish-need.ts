import { requestEvent } from '../../../shared/compaction/event.ts';
import type { CompactionNeeded } from '../../../shared/conversation/head.ts';
import { publishHint } from '../publish-hint.ts';
import { tellRequested } from '../tell-event.ts';
import type { CompactionDependencies } from './compaction-dependencies.ts';

/** Tells the workers, and whoever listens, of a need that a worker has found. Never throws. */
export async function publishNeed(
  dependencies: Pick<CompactionDependencies, 'publisher' | 'logger'>,
  conversationId: string,
  { requestId, trigger }: NonNullable<CompactionNeeded['auto']>,
): Promise<void> {
  await Promise.all([
    publishHint(dependencies, {
      event: requestEvent({ conversationId, requestId }),
      failure: 'compaction_publish_failed',
      conversationId,
    }),
    tellRequested(dependencies, { conversationId, requestId, trigger }),
  ]);
}
