import type { Need } from '../../../shared/compaction/claim-decision.ts';
import type { Head, Versioned } from '../../../shared/conversation/head.ts';
import {
  RECORDS_KEPT,
  type CompactionJob,
  type CompactionRecord,
} from '../../../shared/conversation/job.ts';
import { compactionJobPath, headPath } from '../../../shared/conversation/paths.ts';
import type { Write } from '../../../shared/ports.ts';
import type { CompactionDependencies } from './compaction-dependencies.ts';

/** A need that is settled without a worker, and why. */
export interface DroppedNeed {
  conversationId: string;
  head: Versioned<Head>;
  /** Absent when it cannot be read; then the reason is in the log alone. */
  job: Versioned<CompactionJob> | undefined;
  need: Need;
  state: 'NOOP' | 'FAILED_ERROR';
  reason: string;
  now: Date;
}

const recordOf = ({ head, need, state, reason, now }: DroppedNeed): CompactionRecord => ({
  requestId: need.requestId,
  state,
  trigger: need.trigger,
  requestedAt: need.since,
  finishedAt: now,
  beforeTokens: head.value.context.tokens,
  afterTokens: head.value.context.tokens,
  turnsFolded: 0,
  modelCalls: 0,
  durationMs: 0,
  reason,
});

function jobWrites(dropped: DroppedNeed): Write[] {
  const { conversationId, job } = dropped;
  if (!job) return [];
  const records = [...job.value.records, recordOf(dropped)].slice(-RECORDS_KEPT);
  return [
    {
      op: 'update',
      path: compactionJobPath(conversationId),
      fields: { records: records.map((record) => ({ ...record })) },
      guard: { updateTime: job.updateTime },
    },
  ];
}

/**
 * Takes a need off the head with a record of the reason, under the update times that were read. Throws
 * GuardLostError when the conversation has moved on: then somebody is there to serve it.
 */
export async function dropNeed(
  { store, logger }: Pick<CompactionDependencies, 'store' | 'logger'>,
  dropped: DroppedNeed,
): Promise<void> {
  const { conversationId, head, need, state, reason } = dropped;
  await store.commit([
    {
      op: 'update',
      path: headPath(conversationId),
      fields: {},
      remove: [`compactionNeeded.${need.kind}`],
      guard: { updateTime: head.updateTime },
    },
    ...jobWrites(dropped),
  ]);
  logger.log('WARNING', 'compaction_need_dropped', {
    conversationId,
    requestId: need.requestId,
    status: state,
    reason,
  });
}
