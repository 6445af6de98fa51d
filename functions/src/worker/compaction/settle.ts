import { publishRequest, publishToWorkers } from '#functions/events/publish-request.ts';
import { passWorkerCrashPoint } from '#functions/lib/crash-points.ts';
import { retry } from '#functions/lib/retry.ts';
import type { WorkerDependencies } from '#functions/worker/worker-dependencies.ts';
import {
  CANCELLED_BY_USER,
  decideSettle,
  type CompactionRequest,
  type SettleDecision,
} from '#shared/compaction/request-decisions.ts';
import { requestForContext } from '#shared/compaction/trigger.ts';
import type {
  CompactionRequests,
  Conversation,
  Versioned,
} from '#shared/conversation/documents/conversation.ts';
import { freshJob, type JobBrake } from '#shared/conversation/documents/job.ts';
import { compactionJobPath, conversationPath } from '#shared/conversation/documents/paths.ts';
import { sameConversationWrite } from '#shared/conversation/writes/same-conversation.ts';
import { GuardLostError } from '#shared/lib/errors.ts';
import type { DocumentFields, Write } from '#shared/ports/ports.ts';
import { nextDay } from '#shared/quota/usage.ts';
import { readForCompaction, readConversationAndJob } from './reading.ts';
import { jobAfter, jobBefore, outcomeStatusWrite } from './report.ts';
import { StoppedError } from './job-lease.ts';
import { CONTENDED_RETRY_MS, hasSwapped, type Outcome, type Run } from './run.ts';

/** What becomes of the request once the outcome of an attempt at it stands in the job. */
type Settlement =
  | SettleDecision
  /** Nothing could be written: the conversation is gone, or, with `retryAfterMs`, others were first. */
  | { kind: 'unwritten'; retryAfterMs?: number };

/**
 * Writes an outcome to the job: its record, back-off and breaker. A swap has written them in its own batch. The lease's
 * renewals must have stopped.
 */
export async function recordOutcome(run: Run, outcome: Outcome): Promise<Settlement> {
  const stopped =
    outcome.state === 'SUPERSEDED' ? settlementWithoutWrites(outcome.reason) : undefined;
  if (stopped) return stopped;
  const now = run.dependencies.clock.now();
  const decision = decideSettle({
    ...outcome,
    kind: run.request.kind,
    attempts: run.attempt,
    untilNextDayMs: nextDay(now).getTime() - now.getTime(),
  });
  if (hasSwapped(outcome)) return decision;
  try {
    await writeRecord(run, outcome, decision.kind === 'clear' ? undefined : decision.retryAfterMs);
    await passWorkerCrashPoint(run.dependencies, 'record-written');
    return decision;
  } catch (error) {
    const unwritten =
      error instanceof StoppedError ? settlementWithoutWrites(error.reason) : undefined;
    if (unwritten) return unwritten;
    if (error instanceof GuardLostError)
      return { kind: 'unwritten', retryAfterMs: CONTENDED_RETRY_MS };
    throw error;
  }
}

/**
 * Takes the request off the conversation document, or leaves it for the next try. Until then it has a worker that comes
 * later tell of the outcome. Resolves to the pause before a worker tries again; undefined: none does, or the sweep finds it.
 */
export async function settleRequest(
  run: Run,
  outcome: Outcome,
  settlement: Settlement,
): Promise<number | undefined> {
  const { dependencies, request, reading } = run;
  const { conversationId } = reading;
  switch (settlement.kind) {
    case 'clear': {
      const next = nextAutomatic(run, outcome);
      await clearRequest(dependencies, { conversationId, request, next });
      return undefined;
    }
    case 'wait':
    case 'retry':
      if (request.kind === 'auto') await publishWaitingManual(dependencies, conversationId);
      return settlement.kind === 'retry' ? settlement.retryAfterMs : undefined;
    case 'unwritten':
      return settlement.retryAfterMs;
  }
}

function nextAutomatic({ reading, request }: Run, outcome: Outcome): NextAutomatic {
  if (isDeclined(outcome)) return { kind: 'afterGrowth', tokens: reading.tokens };
  // A search may stand in the place of a request for what is over the threshold.
  return hasSwapped(outcome) || isUndecided(outcome) || request.trigger === 'blocked'
    ? { kind: 'ifOver' }
    : { kind: 'ifOverAndNewer', seq: reading.conversation.value.context.seq };
}

/**
 * The settlement of a run that may not write any more, by why it was stopped; undefined: it may. A lost lease may be one's
 * own swap of which no reply came: the next delivery finds out and settles it.
 */
function settlementWithoutWrites(reason: string | undefined): Settlement | undefined {
  if (reason === 'NOT_LIVE') return { kind: 'unwritten' };
  if (reason === 'LEASE_LOST') return { kind: 'unwritten', retryAfterMs: CONTENDED_RETRY_MS };
  return undefined;
}

/** Outcomes that say nothing of what the context holds by now. */
const isUndecided = ({ state, reason }: Outcome) =>
  state === 'SUPERSEDED' ||
  (state === 'NOOP' && (reason === 'BELOW_THRESHOLD' || reason === 'NOT_ARMED'));

/** Outcomes after which another try makes sense only once more was added. */
const isDeclined = ({ state, reason }: Outcome) =>
  reason === CANCELLED_BY_USER ||
  (state === 'FAILED_INFLATED_TOKEN_COUNT' && reason === 'SAVES_TOO_LITTLE');

// The record in the job

/** A record is written again this often when its guard was lost and the lease is still held. */
const RECORD_TRIES = 5;

/** Writes the record and gives the lease back. */
async function writeRecord(
  run: Run,
  outcome: Outcome,
  retryAfterMs: number | undefined,
): Promise<void> {
  const { dependencies, lease } = run;
  const attempt = async () => {
    const fields = jobAfter(run, outcome, retryAfterMs);
    const status = await outcomeStatusWrite(run, outcome);
    await dependencies.store.commit([...jobWrites(run, fields), status]);
    logBreaker(run, fields.brake);
  };
  // Without a lease nothing was held: the next delivery decides anew.
  const mostTries = lease ? RECORD_TRIES : 1;
  await retry(attempt, { mostTries, beforeNext: async () => lease?.refresh() });
}

/**
 * The job document as the run left it: held, or as it was read by a run that took no lease. One that is
 * created stands below the conversation document as it was read, so that none appears below an erased one.
 */
function jobWrites({ reading, lease }: Run, fields: DocumentFields): Write[] {
  const { conversationId, conversation, job } = reading;
  const path = compactionJobPath(conversationId);
  const updateTime = lease?.updateTime ?? job?.updateTime;
  return updateTime === undefined
    ? [
        { op: 'create', path, fields: { ...freshJob, ...fields } },
        sameConversationWrite(conversationId, conversation.updateTime),
      ]
    : [{ op: 'update', path, fields, guard: { updateTime } }];
}

/** Says that no model will be asked for a while: when the breaker opens, and when the try after it fails. */
function logBreaker(run: Run, { pause }: JobBrake): void {
  const { dependencies, reading } = run;
  const before = jobBefore(run)?.brake.pause;
  if (pause?.reason !== 'BREAKER_OPEN' || pause.until.getTime() === before?.until.getTime()) return;
  const { conversationId } = reading;
  dependencies.logger.log('WARNING', 'compaction_breaker_opened', { conversationId });
}

// The request in the conversation document

/** When an automatic request takes the place of an automatic one: turns that ended meanwhile asked for nothing. */
type NextAutomatic =
  /** At once, if the context is over the threshold. */
  | { kind: 'ifOver' }
  /** The same, and only with turns behind `seq`: the outcome says what is to be said of those before. */
  | { kind: 'ifOverAndNewer'; seq: number }
  /** Not now: from this size on the context must grow first. Its owner declined, or a summary saves too little. */
  | { kind: 'afterGrowth'; tokens: number };

interface ServedRequest {
  conversationId: string;
  request: Pick<CompactionRequest, 'kind' | 'requestId'>;
  next: NextAutomatic;
}

/**
 * Chat changes the conversation document often; a worker that loses this often in a row leaves the request, and the next
 * sweep publishes it again.
 */
const CLEAR_TRIES = 20;

/**
 * Takes the request that was served off the conversation document, under that document's update time; an automatic one
 * may be renewed (`next`). One that chat has replaced meanwhile stays. What still waits is published: whoever was told of
 * it while the job was held left it to the holder. After a crash before or in here the next delivery, or the sweep, finds
 * the record and comes back.
 */
export async function clearRequest(
  dependencies: WorkerDependencies,
  served: ServedRequest,
): Promise<void> {
  const { conversationId } = served;
  let requests: RequestsAfter;
  try {
    requests = await retry(() => clearOnce(dependencies, served), { mostTries: CLEAR_TRIES });
  } catch (error) {
    if (!(error instanceof GuardLostError)) throw error;
    dependencies.logger.log('WARNING', 'compaction_request_not_cleared', { conversationId });
    return;
  }
  const { renewed, waiting } = requests;
  if (renewed) {
    await passWorkerCrashPoint(dependencies, 'request-renewed');
    const { requestId, trigger } = renewed;
    await publishRequest(dependencies, { conversationId, requestId, trigger });
  } else if (waiting)
    await publishToWorkers(dependencies, { conversationId, requestId: waiting.requestId });
}

/** What the conversation document asks for once a request was taken off. */
interface RequestsAfter {
  /** In place of the served one. */
  renewed?: CompactionRequests['auto'];
  /** Of the other kind. */
  waiting?: { requestId: string } | undefined;
}

/** One try at taking the request off. Throws GuardLostError. */
async function clearOnce(
  dependencies: WorkerDependencies,
  served: ServedRequest,
): Promise<RequestsAfter> {
  const { conversationId, request } = served;
  const { conversation } = await readConversationAndJob(dependencies, conversationId);
  if (conversation?.value.state !== 'live') return {};
  const waiting =
    conversation.value.compactionRequests[request.kind === 'auto' ? 'manual' : 'auto'];
  if (conversation.value.compactionRequests[request.kind]?.requestId !== request.requestId)
    return { waiting };
  const renewed = await renewedRequest(dependencies, served, conversation);
  await dependencies.store.commit([
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: {
        settledRequest: request.requestId,
        ...(renewed && { 'compactionRequests.auto': { ...renewed } }),
        ...declinedFields(served, conversation.value),
      },
      remove: [
        ...(renewed ? [] : [`compactionRequests.${request.kind}`]),
        ...(isCancellationOver(conversation.value, request) ? ['compactionRequests.cancel'] : []),
      ],
      guard: { updateTime: conversation.updateTime },
    },
  ]);
  return { renewed, waiting };
}

/** A request for the context where it is over the threshold now. A manual request is not renewed: it asked for itself. */
async function renewedRequest(
  dependencies: WorkerDependencies,
  { conversationId, request, next }: ServedRequest,
  conversation: Versioned<Conversation>,
): Promise<CompactionRequests['auto']> {
  if (request.kind === 'manual' || next.kind === 'afterGrowth') return undefined;
  if (next.kind === 'ifOverAndNewer' && conversation.value.context.seq === next.seq)
    return undefined;
  const reading = await readForCompaction(dependencies, conversationId, {
    conversation,
    job: undefined,
  });
  return requestForContext({
    conversation: reading.conversation.value,
    history: reading.history,
    tokens: reading.tokens,
    policy: reading.policy,
    requestId: dependencies.randomness.uuid(),
    now: dependencies.clock.now(),
  });
}

/** Whether no request is left that the cancellation is for: it was for this one, or for one that ended before it. */
function isCancellationOver(
  { compactionRequests }: Conversation,
  request: ServedRequest['request'],
): boolean {
  const { cancel, manual, auto } = compactionRequests;
  const other = request.kind === 'manual' ? auto : manual;
  return cancel !== undefined && cancel !== other?.requestId;
}

/** What lets the next automatic compaction wait. How a manual request ended says nothing of it. */
const declinedFields = ({ request, next }: ServedRequest, { generation }: Conversation) =>
  next.kind !== 'afterGrowth' || request.kind === 'manual'
    ? {}
    : { 'compactionRequests.declined': { tokens: next.tokens, generation } };

/**
 * Publishes a person's request that came while a worker held the job for an automatic one, which is to be tried again.
 * Never throws but for the store.
 */
async function publishWaitingManual(
  dependencies: WorkerDependencies,
  conversationId: string,
): Promise<void> {
  const { conversation } = await readConversationAndJob(dependencies, conversationId);
  const manual = conversation?.value.compactionRequests.manual;
  if (manual) await publishToWorkers(dependencies, { conversationId, requestId: manual.requestId });
}
