import {
  dropNeedWrites,
  type DroppedNeed,
} from '#shared/conversation/writes/drop-request-writes.ts';
import type { CompactionDependencies } from './compaction-dependencies.ts';

/**
 * Takes a need off the head with a record of the reason. Throws GuardLostError when the conversation has
 * moved on: then somebody is there to serve it.
 */
export async function dropNeed(
  { store, logger }: Pick<CompactionDependencies, 'store' | 'logger'>,
  dropped: DroppedNeed,
): Promise<void> {
  const { conversationId, need, state, reason } = dropped;
  await store.commit(dropNeedWrites(dropped));
  logger.log('WARNING', 'compaction_need_dropped', {
    conversationId,
    requestId: need.requestId,
    status: state,
    reason,
  });
}
