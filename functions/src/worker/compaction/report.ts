import { countLeftOut } from '#functions/context/next-call.ts';
import {
  publishCompactionEvent,
  type CompactionEventType,
} from '#functions/events/publish-request.ts';
import type { WorkerDependencies } from '#functions/worker/worker-dependencies.ts';
import { brakeAfter, spentAfter } from '#shared/compaction/brake.ts';
import { contextTexts } from '#shared/wire/outcome-message.ts';
import { hasFailed, isUnpaid } from '#shared/compaction/outcome.ts';
import { automaticThreshold } from '#shared/compaction/trigger.ts';
import {
  freshJob,
  RECORDS_KEPT,
  type CompactionJob,
  type CompactionRecord,
} from '#shared/conversation/documents/job.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { statusWrite } from '#shared/wire/status-write.ts';
import type { Write } from '#shared/ports/ports.ts';
import {
  contextFigures,
  recordStatus,
  type ContextObject,
} from '#shared/wire/resources/context-object.ts';
import type { Candidate } from './measure-candidate.ts';
import { withoutSwap, type Outcome, billedCost, elapsedMs, hasSwapped, type Run } from './run.ts';
import type { Reading } from './reading.ts';

// Events and the log

/** An attempt as it stands or ended, for the log and for whoever listens. */
interface Report {
  dependencies: WorkerDependencies;
  reading: Reading;
  record: CompactionRecord;
  strategy?: History['strategy'] | undefined;
  turnsArrived?: number | undefined;
}

const reportOf = (run: Run, outcome: Outcome): Report => ({
  dependencies: run.dependencies,
  reading: run.reading,
  record: compactionRecord(run, outcome),
  strategy: outcome.strategy,
  turnsArrived: outcome.turnsArrived,
});

export const reportStart = (run: Run): Promise<void> =>
  publishEvent('started', reportOf(run, withoutSwap(run.reading.tokens, { state: 'RUNNING' })));

/** Code has found the next generation good; it is not in use yet. */
export async function reportVerified(run: Run, candidate: Candidate): Promise<void> {
  const { beforeTokens, afterTokens, turnsFolded, strategy } = candidate;
  const figures = { beforeTokens, afterTokens, turnsFolded, strategy };
  run.dependencies.logger.log('INFO', 'compaction_verified', {
    conversationId: run.reading.conversationId,
    requestId: run.request.requestId,
    ...figures,
  });
  const verified = withoutSwap(beforeTokens, { state: 'VERIFYING', ...figures });
  await publishEvent('verified', reportOf(run, verified));
}

export const reportOutcome = (run: Run, outcome: Outcome): Promise<void> =>
  report(reportOf(run, outcome));

/** One log line and one event for every attempt, NOOP and failures included (there before = after). */
export async function report(ended: Report): Promise<void> {
  const { dependencies, reading, record } = ended;
  const { state, beforeTokens, afterTokens, turnsFolded, tokens, model } = record;
  const isFailed = hasFailed(state);
  dependencies.logger.log(isFailed ? 'WARNING' : 'INFO', 'chat_compression', {
    tokens_before: beforeTokens,
    tokens_after: afterTokens,
    status: state,
    ...figuresOf(ended),
    turnsFolded,
    ...tokens,
    model,
    threshold_tokens: reading.policy.softThresholdTokens ?? undefined,
    threshold_source: reading.policy.thresholdLevel,
  });
  const type = record.generation === undefined ? 'skipped' : 'swapped';
  await publishEvent(isFailed ? 'failed' : type, ended);
}

function publishEvent(type: CompactionEventType, told: Report): Promise<void> {
  const { state, beforeTokens, afterTokens } = told.record;
  const event = { type, ...figuresOf(told), state, beforeTokens, afterTokens };
  return publishCompactionEvent(told.dependencies, event);
}

/** What events and log lines say. */
const figuresOf = ({ reading, record, strategy, turnsArrived }: Report) => ({
  conversationId: reading.conversationId,
  requestId: record.requestId,
  generation: record.generation ?? reading.conversation.value.generation,
  trigger: record.trigger,
  reason: record.reason,
  calls: record.modelCalls,
  costMicros: record.costMicros,
  durationMs: record.durationMs,
  lagMs: Math.max(0, record.finishedAt.getTime() - record.requestedAt.getTime()),
  turnsArrived,
  strategy,
  variant: record.variant,
});

// What devices see

/** The write that tells the owner's devices how far a run has come; the context stands as it was read. */
export const progressStatusWrite = (run: Run, state: 'RUNNING' | 'VERIFYING'): Promise<Write> =>
  outcomeStatusWrite(run, withoutSwap(run.reading.tokens, { state }));

/** The write that tells the owner's devices what an outcome changed. */
export function outcomeStatusWrite(run: Run, outcome: Outcome): Promise<Write> {
  const { conversationId } = run.reading;
  return statusWrite(run.dependencies.store, conversationId, { ...statusOf(run, outcome) });
}

/** The context object after a step or an outcome. */
function statusOf(run: Run, outcome: Outcome): ContextObject {
  const { conversation, policy, tokens, tokensSource } = run.reading;
  const tokensNow = hasSwapped(outcome) ? outcome.afterTokens : tokens;
  // What is read again is more than the context.
  const context = outcome.after ?? (run.reading.isReadAgain ? undefined : run.reading);
  const texts = contextTexts();
  const status = recordStatus(compactionRecord(run, outcome), {
    coveredThrough: outcome.coveredThrough ?? conversation.value.coveredThrough,
    message: texts.outcome(outcome),
  });
  const compaction = isUnpaid(outcome.reason) ? { ...status, state: 'QUEUED' } : status;
  return contextFigures(
    {
      tokens: tokensNow,
      tokensSource: outcome.tokensSource ?? tokensSource,
      thresholdTokens: automaticThreshold(policy, conversation.value),
      windowTokens: policy.windowTokens,
      generation: outcome.generation ?? conversation.value.generation,
      shrinkage:
        context &&
        countLeftOut(run.dependencies, conversation.value, { ...context, tokens: tokensNow }),
      texts,
    },
    compaction,
  );
}

// The job

/** The job document as it was read last. */
export const jobBefore = ({ lease, reading }: Run): CompactionJob | undefined =>
  lease?.newestJob ?? reading.job?.value;

/**
 * What an outcome leaves in `jobs/compaction`: its record, the brake on the next one, and no lease. `retryAfterMs`: until
 * the same request is tried again; undefined: it is settled.
 */
export function jobAfter(run: Run, outcome: Outcome, retryAfterMs: number | undefined) {
  const { bill, request, reading } = run;
  const now = run.dependencies.clock.now();
  const job = jobBefore(run) ?? freshJob;
  const brake = brakeAfter(
    job.brake,
    {
      state: outcome.state,
      reason: outcome.reason,
      trigger: request.trigger,
      isWithoutModel: run.noModelReason !== undefined || outcome.reason === 'TURN_TOO_LARGE',
    },
    {
      retryAfterMs,
      now,
      tokens: reading.tokens,
      overheadTokens: reading.conversation.value.context.overheadTokens,
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

/** The record of an attempt as it stands at `outcome`. */
function compactionRecord(run: Run, outcome: Outcome): CompactionRecord {
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
