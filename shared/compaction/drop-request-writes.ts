import type { CompactionRequest } from '#shared/compaction/request-decisions.ts';
import type { DocumentFields, Write } from '#shared/ports/ports.ts';
import type { Conversation, Versioned } from '#shared/conversation/documents/conversation.ts';
import {
  freshJob,
  RECORDS_KEPT,
  type CompactionJob,
  type CompactionRecord,
} from '#shared/conversation/documents/job.ts';
import { compactionJobPath, conversationPath } from '#shared/conversation/documents/paths.ts';

/** A request that is settled without a worker, and why. */
export interface DroppedRequest {
  conversationId: string;
  conversation: Versioned<Conversation>;
  /** `unreadable`: the reason stands in the log alone. */
  job: Versioned<CompactionJob> | 'missing' | 'unreadable';
  request: CompactionRequest;
  state: 'NOOP' | 'FAILED_ERROR' | 'ABORTED';
  reason: string;
  /** Of the context. */
  tokens: number;
  now: Date;
}

const recordOf = ({ request, state, reason, tokens, now }: DroppedRequest): CompactionRecord => ({
  requestId: request.requestId,
  state,
  trigger: request.trigger,
  requestedAt: request.since,
  finishedAt: now,
  beforeTokens: tokens,
  afterTokens: tokens,
  turnsFolded: 0,
  modelCalls: 0,
  durationMs: 0,
  reason,
});

const recordsAfter = (dropped: DroppedRequest): CompactionRecord[] => {
  const { job } = dropped;
  const records = typeof job === 'string' ? [] : job.value.records;
  return [...records, recordOf(dropped)].slice(-RECORDS_KEPT);
};

/** The job with the record of the dropped request, for whoever shows it. */
export const jobAfterDrop = (dropped: DroppedRequest): CompactionJob => ({
  ...(typeof dropped.job === 'string' ? freshJob : dropped.job.value),
  records: recordsAfter(dropped),
});

/**
 * The record in the job. With `frees` a worker whose lease is over loses the job for good: it may be slow and not dead.
 * A job that is missing is created; the conversation document's guard in the same batch keeps it from appearing below a
 * conversation that is erased.
 */
function jobWrites(dropped: DroppedRequest, frees: boolean): Write[] {
  const { conversationId, job, now } = dropped;
  const path = compactionJobPath(conversationId);
  const records = recordsAfter(dropped).map((record) => ({ ...record }));
  if (job === 'unreadable') return [];
  if (job === 'missing')
    return frees ? [{ op: 'create', path, fields: { ...freshJob, records } }] : [];
  const free = { owner: '', leaseUntil: now, fence: job.value.fence + 1, step: '' };
  const isOver = job.value.owner !== '' && job.value.leaseUntil <= now;
  return [
    {
      op: 'update',
      path,
      fields: { records, ...(frees && isOver && free) },
      guard: { updateTime: job.updateTime },
    },
  ];
}

/**
 * The batch that takes a request off the conversation document with a record of the reason, under the update times that
 * were read: when the conversation has moved on, somebody is there to serve it.
 */
export function dropRequestWrites(
  dropped: DroppedRequest,
  { fields = {}, frees = false }: { fields?: DocumentFields; frees?: boolean } = {},
): Write[] {
  const { conversationId, conversation, request } = dropped;
  return [
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: { ...fields, settledRequest: request.requestId },
      remove: [`compactionRequests.${request.kind}`],
      guard: { updateTime: conversation.updateTime },
    },
    ...jobWrites(dropped, frees),
  ];
}
