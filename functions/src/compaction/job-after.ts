import { breakerAfter } from '../../../shared/compaction/breaker.ts';
import { RECORDS_KEPT, type CompactionRecord } from '../../../shared/conversation/job.ts';
import type { DocumentFields } from '../../../shared/ports.ts';
import type { Outcome } from './outcome.ts';
import { elapsedMs, type Run } from './run.ts';

/** The record of an attempt as it stands at `outcome`. */
export function recordOf(run: Run, outcome: Outcome): CompactionRecord {
  const { state, reason, beforeTokens, afterTokens, turnsFolded, generation, model } = outcome;
  return {
    requestId: run.need.requestId,
    state,
    trigger: run.need.trigger,
    requestedAt: run.need.since,
    finishedAt: run.dependencies.clock.now(),
    beforeTokens,
    afterTokens,
    turnsFolded,
    modelCalls: run.bill.calls,
    durationMs: elapsedMs(run),
    ...(generation !== undefined && { generation }),
    ...(model !== undefined && { model }),
    ...(reason !== undefined && { reason }),
  };
}

/** Outcomes that say nothing about the model: it was not asked, and a pause would change nothing. */
const isBeforeModel = ({ reason }: Outcome) => reason === 'TURN_TOO_LARGE';

/**
 * What an outcome leaves in `jobs/compaction`: its record, the breaker, the back-off, and no lease.
 * `retryAt` null means that the need is settled and the next one starts with no attempts.
 */
export function jobAfter(run: Run, outcome: Outcome, retryAt: Date | null): DocumentFields {
  const now = run.dependencies.clock.now();
  const job = run.reading.job?.value;
  const breakerBefore = {
    failures: job?.failures ?? 0,
    openUntil: job?.breakerOpenUntil ?? null,
  };
  const breaker = isBeforeModel(outcome)
    ? breakerBefore
    : breakerAfter(
        breakerBefore,
        { state: outcome.state, trigger: run.need.trigger },
        { now, policy: run.reading.policy },
      );
  const records = [...(job?.records ?? []), recordOf(run, outcome)].slice(-RECORDS_KEPT);
  return {
    owner: '',
    leaseUntil: now,
    requestId: run.need.requestId,
    step: '',
    attempts: retryAt === null ? 0 : run.attempt,
    retryAt,
    failures: breaker.failures,
    breakerOpenUntil: breaker.openUntil,
    records: records.map((record) => ({ ...record })),
  };
}
