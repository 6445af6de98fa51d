import { passWorkerCrashPoint } from '#functions/lib/crash-points.ts';
import { retry } from '#functions/lib/retry.ts';
import { CANCELLED_BY_USER } from '#shared/compaction/claim-decision.ts';
import { decideSettle } from '#shared/compaction/settle-decision.ts';
import { freshJob, type JobBrake } from '#shared/conversation/documents/job.ts';
import { compactionJobPath } from '#shared/conversation/documents/paths.ts';
import { sameConversationWrite } from '#shared/conversation/writes/status-write.ts';
import { GuardLostError } from '#shared/errors.ts';
import type { DocumentFields, DocumentStore, Write } from '#shared/ports/ports.ts';
import { nextDay } from '#shared/quota/usage.ts';
import { clearRequest, publishManual } from './clear-request.ts';
import { jobAfter } from './job-after.ts';
import type { JobLease } from './job-lease.ts';
import { StoppedError, type Outcome } from './attempt-outcome.ts';
import { outcomeStatusWrite } from './report.ts';
import type { Run } from './run.ts';

/** A record is written again this often when its guard was lost and the lease is still held. */
const RECORD_TRIES = 5;

export type Settlement =
  /** Nothing is left to do here; a request that waits for dollars is the sweep's. */
  | { kind: 'settled' }
  /** The request is to be tried again. */
  | { kind: 'retry'; retryAfterMs: number }
  /** The conversation is gone: nothing was written, and nothing is left to do. */
  | { kind: 'left' };

/** Writers of one job document meet for milliseconds; a second later the way is free. */
const CONTENDED_RETRY_MS = 1_000;

/**
 * The job document as the run left it: held, or as it was read by a run that took no lease. One that is
 * created stands below the conversation document as it was read, so that none appears below an erased one.
 */
function jobWrites(run: Run, lease: JobLease | undefined, fields: DocumentFields): Write[] {
  const { conversationId, conversation, job } = run.reading;
  const path = compactionJobPath(conversationId);
  const updateTime = lease?.updateTime ?? job?.updateTime;
  return updateTime === undefined
    ? [
        { op: 'create', path, fields: { ...freshJob, ...fields } },
        sameConversationWrite(conversationId, conversation.updateTime),
      ]
    : [{ op: 'update', path, fields, guard: { updateTime } }];
}

interface Recording {
  run: Run;
  lease: JobLease | undefined;
  outcome: Outcome;
  retryAfterMs: number | undefined;
}

/** Says that no model will be asked for a while: when the breaker opens, and when the try after it fails. */
function logBreaker({ run, lease }: Recording, { pause }: JobBrake): void {
  const { dependencies, reading } = run;
  const before = (lease?.changedJob ?? reading.job?.value)?.brake.pause;
  if (pause?.reason !== 'BREAKER_OPEN' || pause.until.getTime() === before?.until.getTime()) return;
  const { conversationId } = reading;
  dependencies.logger.log('WARNING', 'compaction_breaker_opened', { conversationId });
}

/** Writes the record and gives the lease back. */
async function record(store: DocumentStore, recording: Recording): Promise<void> {
  const { run, lease, outcome, retryAfterMs } = recording;
  const attempt = async () => {
    const fields = jobAfter({ ...run, lease }, outcome, retryAfterMs);
    await store.commit([...jobWrites(run, lease, fields), await outcomeStatusWrite(run, outcome)]);
    logBreaker(recording, fields.brake);
  };
  // Without a lease nothing was held: the next delivery decides anew.
  const mostTries = lease ? RECORD_TRIES : 1;
  await retry(attempt, { mostTries, beforeNext: async () => lease?.readAgain() });
}

/** Outcomes that say nothing of what the context holds by now. */
const isUndecided = ({ state, reason }: Outcome) =>
  state === 'SUPERSEDED' ||
  (state === 'NOOP' && (reason === 'BELOW_THRESHOLD' || reason === 'NOT_ARMED'));

/** Outcomes after which another try makes sense only once more was added. */
const isToWait = ({ state, reason }: Outcome) =>
  reason === CANCELLED_BY_USER ||
  (state === 'FAILED_INFLATED_TOKEN_COUNT' && reason === 'SAVES_TOO_LITTLE');

const isSwapped = ({ state }: Outcome) => state === 'COMPACTED' || state === 'CONTENT_TRUNCATED';

/**
 * What is left to do by a run that may not write any more. A lost lease may be one's own swap of which
 * no reply came: the next delivery finds out and settles it.
 */
function leftBy(reason: string | undefined): Settlement | undefined {
  if (reason === 'NOT_LIVE') return { kind: 'left' };
  if (reason === 'LEASE_LOST') return { kind: 'retry', retryAfterMs: CONTENDED_RETRY_MS };
  return undefined;
}

/**
 * Settles an outcome: its record, back-off and breaker in the job (a swap has written them), then the
 * request in the conversation document. The lease's renewals must have stopped.
 */
export async function settle(run: Run, outcome: Outcome, lease?: JobLease): Promise<Settlement> {
  const left = outcome.state === 'SUPERSEDED' ? leftBy(outcome.reason) : undefined;
  if (left) return left;
  const { store, clock } = run.dependencies;
  const now = clock.now();
  const decision = decideSettle({
    ...outcome,
    kind: run.request.kind,
    attempts: run.attempt,
    untilNextDayMs: nextDay(now).getTime() - now.getTime(),
  });
  const retryAfterMs = decision.kind === 'clear' ? undefined : decision.retryAfterMs;
  if (!isSwapped(outcome))
    try {
      await record(store, { run, lease, outcome, retryAfterMs });
      await passWorkerCrashPoint(run.dependencies, 'record-written');
    } catch (error) {
      const leaving = error instanceof StoppedError ? leftBy(error.reason) : undefined;
      if (leaving) return leaving;
      if (error instanceof GuardLostError)
        return { kind: 'retry', retryAfterMs: CONTENDED_RETRY_MS };
      throw error;
    }
  const { conversationId } = run.reading;
  if (retryAfterMs !== undefined) {
    if (run.request.kind === 'auto') await publishManual(run.dependencies, conversationId);
    return decision.kind === 'wait' ? { kind: 'settled' } : { kind: 'retry', retryAfterMs };
  }
  await clearRequest(run.dependencies, {
    conversationId,
    request: run.request,
    ...(isToWait(outcome) && { waitsFromTokens: run.reading.tokens }),
    // A search may stand in the place of a request for what is over the threshold.
    looksAgain: isSwapped(outcome) || isUndecided(outcome) || run.request.trigger === 'blocked',
    measuredSeq: run.reading.conversation.value.context.seq,
  });
  return { kind: 'settled' };
}
