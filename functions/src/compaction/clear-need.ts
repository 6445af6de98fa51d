import type { Need } from '../../../shared/compaction/claim-decision.ts';
import { needOfContext } from '../../../shared/compaction/crossing.ts';
import { compactionRequestWriteSchema } from '../../../shared/compaction/event.ts';
import type { CompactionNeeded, Head, Versioned } from '../../../shared/conversation/head.ts';
import { headPath } from '../../../shared/conversation/paths.ts';
import { GuardLostError } from '../../../shared/errors.ts';
import type { CompactionDependencies } from './compaction-dependencies.ts';
import { readContext, readHeadAndJob } from './read-for-compaction.ts';

/**
 * Chat changes the head often; a worker that loses this often in a row leaves the need, and the next
 * sweep publishes it again.
 */
const CLEAR_TRIES = 20;

export interface ServedNeed {
  conversationId: string;
  need: Pick<Need, 'kind' | 'requestId'>;
  /**
   * Whether it was served by a swap. Turns that ended meanwhile asked for nothing, because this need was
   * waiting: if they crossed the threshold anew, the need is renewed instead of cleared.
   */
  isSwapped: boolean;
}

/** A need for what the swap has left over the threshold, or undefined. */
async function renewedNeed(
  dependencies: CompactionDependencies,
  { conversationId, isSwapped }: ServedNeed,
  head: Versioned<Head>,
): Promise<CompactionNeeded['auto']> {
  if (!isSwapped) return undefined;
  const reading = await readContext(dependencies, conversationId, { head, job: undefined });
  return needOfContext({
    head: reading.head.value,
    history: reading.history,
    tokens: reading.tokens,
    policy: reading.policy,
    requestId: dependencies.randomness.uuid(),
    now: dependencies.clock.now(),
  });
}

async function publishRenewed(
  { publisher, logger }: CompactionDependencies,
  request: { conversationId: string; requestId: string },
): Promise<void> {
  try {
    const data = compactionRequestWriteSchema.parse({ schemaVersion: 1, ...request });
    await publisher.publish({ topic: 'compaction', data });
  } catch {
    // The need stands in the head: the sweep publishes it.
    logger.log('WARNING', 'compaction_publish_failed', request);
  }
}

/**
 * Takes the need that was served off the head, under the head's update time. One that chat has replaced
 * meanwhile stays, and one whose swap was not enough is renewed. After a crash before or in here the next
 * delivery, or the sweep, finds the record and comes back.
 */
export async function clearNeed(
  dependencies: CompactionDependencies,
  served: ServedNeed,
): Promise<void> {
  const { conversationId, need } = served;
  for (let tries = 0; tries < CLEAR_TRIES; tries++) {
    const { head } = await readHeadAndJob(dependencies, conversationId);
    if (head?.value.state !== 'live') return;
    if (head.value.compactionNeeded[need.kind]?.requestId !== need.requestId) return;
    const isOtherWaiting = need.kind === 'manual' && head.value.compactionNeeded.auto !== undefined;
    const renewed = isOtherWaiting ? undefined : await renewedNeed(dependencies, served, head);
    const isReplaced = renewed !== undefined && need.kind === 'auto';
    try {
      await dependencies.store.commit([
        {
          op: 'update',
          path: headPath(conversationId),
          fields: renewed ? { 'compactionNeeded.auto': { ...renewed } } : {},
          remove: isReplaced ? [] : [`compactionNeeded.${need.kind}`],
          guard: { updateTime: head.updateTime },
        },
      ]);
    } catch (error) {
      if (!(error instanceof GuardLostError)) throw error;
      continue;
    }
    if (renewed)
      await publishRenewed(dependencies, { conversationId, requestId: renewed.requestId });
    return;
  }
  dependencies.logger.log('WARNING', 'compaction_need_not_cleared', { conversationId });
}
