import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { CompactionJob } from '#shared/conversation/documents/job.ts';
import type { CompactionRequest } from './claim-decision.ts';

export interface CancelFacts {
  conversation: Pick<Conversation, 'compactionNeeded'>;
  job: CompactionJob | undefined;
  jobId: string;
  now: Date;
}

export type CancelDecision =
  /** Nobody knows such a job, or no longer. */
  | { kind: 'unknown' }
  | { kind: 'ended'; state: string }
  /** A worker is at it: it is told, unless it has been. */
  | { kind: 'running'; isTold: boolean }
  /** It waits for a worker, or its worker died: it is taken off. */
  | { kind: 'queued'; need: CompactionRequest };

/**
 * What the cancellation of a compaction comes to. A job is named by the id of its request, an automatic one
 * too; one that has ended stays as it is.
 */
export function decideCancel({ conversation, job, jobId, now }: CancelFacts): CancelDecision {
  const { manual, auto, cancel } = conversation.compactionNeeded;
  const isHeld = job !== undefined && job.owner !== '' && job.leaseUntil > now;
  if (isHeld && job.requestId === jobId) return { kind: 'running', isTold: cancel === jobId };
  if (manual?.requestId === jobId)
    return { kind: 'queued', need: { kind: 'manual', trigger: 'manual', ...manual } };
  if (auto?.requestId === jobId) return { kind: 'queued', need: { kind: 'auto', ...auto } };
  const record = job?.records.findLast(({ requestId }) => requestId === jobId);
  return record ? { kind: 'ended', state: record.state } : { kind: 'unknown' };
}
