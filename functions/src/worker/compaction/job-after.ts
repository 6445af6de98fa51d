import { brakeAfter, spentAfter } from '#shared/compaction/brake.ts';
import { isUnpaid } from '#shared/compaction/outcome.ts';
import {
  freshJob,
  RECORDS_KEPT,
  type CompactionJob,
  type CompactionRecord,
} from '#shared/conversation/documents/job.ts';
import type { JobLease } from './job-lease.ts';
import type { Outcome } from './attempt-outcome.ts';
import { type Run, billedCost, conversationTokens, elapsedMs } from './run.ts';

/** The record of an attempt as it stands at `outcome`. */
export function compactionRecord(run: Run, outcome: Outcome): CompactionRecord {
  const { state, reason, beforeTokens, afterTokens, turnsFolded, generation, model } = outcome;
  const { searchedPrefix } = outcome;
  const { calls, promptTokens, outputTokens } = run.bill;
  return {
    requestId: run.request.requestId,
    state,
    trigger: run.request.trigger,
    requestedAt: run.request.since,
    finishedAt: run.dependencies.clock.now(),
    beforeTokens,
    afterTokens,
    turnsFolded,
    modelCalls: calls,
    ...(calls > 0 && { tokens: { promptTokens, outputTokens } }),
    ...billedCost(run.bill),
    ...(run.reading.variant !== undefined && { variant: run.reading.variant }),
    durationMs: elapsedMs(run),
    ...(generation !== undefined && { generation }),
    ...(model !== undefined && { model }),
    ...(reason !== undefined && { reason }),
    ...(searchedPrefix !== undefined && { searchedPrefix }),
  };
}

/** One that nobody could pay for is no attempt: what the claim counted is taken back. */
const attemptsTakenBack = (
  { request, attempt }: Run,
  { attempts }: Pick<CompactionJob, 'attempts'>,
): Pick<CompactionJob, 'attempts'> => ({
  attempts: { ...attempts, [request.kind]: { requestId: request.requestId, count: attempt - 1 } },
});

/** The records with a new one, which stands in the place of an earlier wait of the same request for dollars. */
function recordsAfter(run: Run, records: readonly CompactionRecord[], outcome: Outcome) {
  const last = records.at(-1);
  const isSameWait =
    isUnpaid(outcome.reason) && isUnpaid(last?.reason) && last?.requestId === run.request.requestId;
  const kept = isSameWait ? records.slice(0, -1) : records;
  return [...kept, compactionRecord(run, outcome)].slice(-RECORDS_KEPT);
}

/**
 * What an outcome leaves in `jobs/compaction`: its record, the brake on the next one, and no lease. `retryAfterMs`:
 * until the same request is tried again; undefined: it is settled.
 */
export function jobAfter(
  run: Run & { lease?: Pick<JobLease, 'changedJob'> | undefined },
  outcome: Outcome,
  retryAfterMs: number | undefined,
) {
  const { bill, request, reading } = run;
  const now = run.dependencies.clock.now();
  const job = run.lease?.changedJob ?? reading.job?.value ?? freshJob;
  const brake = brakeAfter(
    job.brake,
    {
      state: outcome.state,
      reason: outcome.reason,
      trigger: request.trigger,
      isWithoutModel: run.refusal !== undefined || outcome.reason === 'TURN_TOO_LARGE',
    },
    {
      retryAfterMs,
      now,
      tokens: reading.tokens,
      conversationTokens: conversationTokens(reading),
      policy: reading.policy,
    },
  );
  const { calls, promptTokens, outputTokens } = bill;
  const spent = spentAfter(job.brake.spent, { at: now, tokens: promptTokens + outputTokens });
  return {
    owner: '',
    leaseUntil: now,
    requestId: request.requestId,
    step: '',
    ...(isUnpaid(outcome.reason) && attemptsTakenBack(run, job)),
    brake: calls > 0 ? { ...brake, spent } : brake,
    records: recordsAfter(run, job.records, outcome),
  } satisfies Partial<CompactionJob>;
}
