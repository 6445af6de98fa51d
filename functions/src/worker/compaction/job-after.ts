import {
  breakerAfter,
  spentAfter,
  waitsForBudget,
  holdsBackForBudget,
} from '#shared/compaction/brakes.ts';
import {
  RECORDS_KEPT,
  type CompactionJob,
  type CompactionRecord,
} from '#shared/conversation/documents/job.ts';
import type { DocumentFields } from '#shared/ports/ports.ts';
import type { JobLease } from './job-lease.ts';
import type { Outcome } from './attempt-outcome.ts';
import { type Run, billedCost, conversationTokens, elapsedMs } from './run.ts';

/** The record of an attempt as it stands at `outcome`. */
export function compactionRecord(run: Run, outcome: Outcome): CompactionRecord {
  const { state, reason, beforeTokens, afterTokens, turnsFolded, generation, model } = outcome;
  const { searchedPrefix } = outcome;
  const { calls, promptTokens, outputTokens } = run.bill;
  return {
    requestId: run.need.requestId,
    state,
    trigger: run.need.trigger,
    requestedAt: run.need.since,
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

/** Outcomes that say nothing about the model: it was not asked. */
const isWithoutModel = ({ isModelAllowed }: Run, { reason }: Outcome) =>
  !isModelAllowed || reason === 'TURN_TOO_LARGE';

/** Attempts at the need: one that nobody could pay for is none. */
function attemptsAfter({ need, attempt }: Run, { reason }: Outcome, retryAt: Date | null) {
  if (!waitsForBudget(reason)) return { attempts: retryAt === null ? 0 : attempt };
  const count = Math.max(0, attempt - 1);
  return {
    attempts: count,
    ...(need.kind === 'auto' && { autoAttempts: { requestId: need.requestId, count } }),
  };
}

/** The records with a new one, which stands in the place of an earlier wait of the same request for dollars. */
function recordsAfter(run: Run, job: Pick<CompactionJob, 'records'> | undefined, outcome: Outcome) {
  const before = job?.records ?? [];
  const kept =
    waitsForBudget(outcome.reason) && holdsBackForBudget(job, run.need)
      ? before.slice(0, -1)
      : before;
  return [...kept, compactionRecord(run, outcome)].slice(-RECORDS_KEPT);
}

/**
 * What an outcome leaves in `jobs/compaction`: its record, the breaker, the back-off, what was spent, and no lease.
 * `retryAt` null means that the need is settled and the next one starts with no attempts.
 */
export function jobAfter(
  run: Run & { lease?: Pick<JobLease, 'changedJob'> | undefined },
  outcome: Outcome,
  retryAt: Date | null,
): DocumentFields {
  const now = run.dependencies.clock.now();
  const job = run.lease?.changedJob ?? run.reading.job?.value;
  const { calls, promptTokens, outputTokens } = run.bill;
  const breakerBefore = {
    failures: job?.failures ?? 0,
    openUntil: job?.breakerOpenUntil ?? null,
    openedAtTokens: job?.breakerOpenTokens ?? undefined,
  };
  const breaker = isWithoutModel(run, outcome)
    ? breakerBefore
    : breakerAfter(
        breakerBefore,
        { ...outcome, trigger: run.need.trigger },
        { now, tokens: conversationTokens(run.reading), policy: run.reading.policy },
      );
  const records = recordsAfter(run, job, outcome);
  return {
    owner: '',
    leaseUntil: now,
    requestId: run.need.requestId,
    step: '',
    ...attemptsAfter(run, outcome, retryAt),
    retryAt,
    failures: breaker.failures,
    breakerOpenUntil: breaker.openUntil,
    breakerOpenTokens: breaker.openedAtTokens ?? null,
    spent: spentAfter(job?.spent ?? [], {
      at: now,
      tokens: promptTokens + outputTokens,
      calls,
    }).map((spent) => ({ ...spent })),
    records: records.map((entry) => ({ ...entry })),
  };
}
