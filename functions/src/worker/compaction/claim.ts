import { spendAllowance } from '#functions/config/conversation-policy.ts';
import { passWorkerCrashPoint } from '#functions/lib/crash-points.ts';
import { exhaustedBudget } from '#functions/quota/paid-call.ts';
import type { WorkerDependencies } from '#functions/worker/worker-dependencies.ts';
import { sizeBrakes } from '#shared/compaction/brake.ts';
import { isOverThreshold } from '#shared/compaction/policy.ts';
import {
  decideClaim,
  waitingRequest,
  type ClaimDecision,
  type CompactionRequest,
} from '#shared/compaction/request-decisions.ts';
import {
  freshJob,
  type CompactionJob,
  type CompactionRecord,
} from '#shared/conversation/documents/job.ts';
import { compactionJobPath } from '#shared/conversation/documents/paths.ts';
import { sameConversationWrite } from '#shared/conversation/writes/same-conversation.ts';
import { mayBeCommitted } from '#shared/lib/errors.ts';
import type { DocumentFields, Write } from '#shared/ports/ports.ts';
import { JobLease } from './job-lease.ts';
import { readConversationAndJob, readForCompaction, type Reading } from './reading.ts';
import { progressStatusWrite } from './report.ts';
import { CONTENDED_RETRY_MS, type ClaimedRun, type Run } from './run.ts';

/** Two workers that start together lose to each other a few times at most; to a chat a worker may lose more often. */
const CLAIM_TRIES = 5;
const CLAIM_RETRY_MS = 50;

/** A request whose outcome a worker has recorded, and then died. */
export interface RecordedRequest {
  reading: Reading;
  request: CompactionRequest;
  record: CompactionRecord;
}

type Claim =
  | Extract<ClaimDecision, { kind: 'nothing' | 'later' }>
  | ({ kind: 'recorded' } & RecordedRequest)
  | { kind: 'outcome'; run: Run; state: 'NOOP' | 'FAILED_ERROR' | 'ABORTED'; reason: string }
  /** Others have written to the conversation at every try. */
  | { kind: 'retry'; retryAfterMs: number; reason: 'CONTENDED' }
  | { kind: 'claimed'; run: ClaimedRun };

/**
 * Takes the lease of a conversation's compaction if its documents, as they stand now, ask for one.
 * Duplicate, late and reordered deliveries end here without cost.
 */
export async function claimCompaction(
  dependencies: WorkerDependencies,
  { conversationId, signal }: { conversationId: string; signal: AbortSignal },
): Promise<Claim> {
  const owner = dependencies.randomness.uuid();
  let triedRun: Run | undefined;
  // Not `retry`: only a failed commit is tried again; a read that fails ends the claim.
  for (let tries = 0; tries < CLAIM_TRIES; tries++) {
    const { conversation, job } = await readConversationAndJob(dependencies, conversationId);
    // An earlier try took the lease, and its reply was lost.
    if (triedRun && job?.value.owner === owner)
      return { kind: 'claimed', run: withLease(triedRun, job.value, job.updateTime) };
    // `decideClaim` says the same of the conversation as it is read with its context: this saves that reading.
    if (conversation?.value.state !== 'live') return { kind: 'nothing', reason: 'NOT_LIVE' };
    if (!waitingRequest(conversation.value)) return { kind: 'nothing', reason: 'NO_REQUEST' };
    const reading = await readForCompaction(dependencies, conversationId, { conversation, job });
    const decision = await checkBudget(
      dependencies,
      decide(dependencies, reading),
      reading.conversation.value,
    );
    if (decision.kind === 'recorded') return { ...decision, reading };
    if (decision.kind !== 'claim' && decision.kind !== 'outcome') return decision;
    const run = runOf(dependencies, { reading, decision, signal });
    if (decision.kind === 'outcome') {
      const { state, reason } = decision;
      return { kind: 'outcome', run, state, reason };
    }
    await passWorkerCrashPoint(dependencies, 'before-claim');
    triedRun = run;
    try {
      return { kind: 'claimed', run: await takeLease(run, owner) };
    } catch (error) {
      // A lost reply may have been applied: the next reading shows whose lease it is.
      if (!mayBeCommitted(error)) throw error;
    }
    await dependencies.clock.wait(CLAIM_RETRY_MS * tries);
  }
  return { kind: 'retry', retryAfterMs: CONTENDED_RETRY_MS, reason: 'CONTENDED' };
}

function decide(
  { config, clock }: Pick<WorkerDependencies, 'config' | 'clock'>,
  reading: Reading,
): ClaimDecision {
  const { history, policy } = reading;
  const conversation = reading.conversation.value;
  // What is read again is larger than the context, and it is what would be folded.
  const tokens = Math.max(reading.tokens, reading.sourceTokens);
  const { overheadTokens } = conversation.context;
  return decideClaim({
    now: clock.now(),
    conversation,
    job: reading.job?.value,
    isOverThreshold:
      (conversation.settings.compaction ?? 'auto') === 'auto' &&
      isOverThreshold({ tokens, overheadTokens, policy }),
    tokens,
    sizeBrakes: sizeBrakes({
      history,
      declined: conversation.compactionRequests.declined,
      policy,
    }),
    allowance: spendAllowance(config),
  });
}

/** The decision, without a model where the dollars of the day are used up. Nothing is read where no model would be asked. */
async function checkBudget(
  dependencies: WorkerDependencies,
  decision: ClaimDecision,
  { ownerUid }: { ownerUid: string },
): Promise<ClaimDecision> {
  if (decision.kind !== 'claim' || decision.noModelReason) return decision;
  const noModelReason = await exhaustedBudget(dependencies, ownerUid);
  return noModelReason ? { ...decision, noModelReason } : decision;
}

const runOf = (
  dependencies: WorkerDependencies,
  {
    reading,
    decision,
    signal,
  }: {
    reading: Reading;
    decision: Extract<ClaimDecision, { kind: 'claim' | 'outcome' }>;
    signal: AbortSignal;
  },
): Run => ({
  dependencies,
  reading,
  request: decision.request,
  attempt: decision.kind === 'claim' ? decision.attempt : 0,
  noModelReason: decision.kind === 'claim' ? decision.noModelReason : undefined,
  startTime: dependencies.clock.now(),
  bill: { calls: 0, promptTokens: 0, outputTokens: 0, costMicros: 0 },
  delivery: signal,
  signal,
});

/** The run with its lease, whose renewals begin, once the job document stands as `job`, written at `updateTime`. */
function withLease(
  run: Run,
  { owner, fence }: Pick<CompactionJob, 'owner' | 'fence'>,
  updateTime: string,
): ClaimedRun {
  const { dependencies, reading, request, signal } = run;
  const lease = new JobLease(dependencies, {
    conversationId: reading.conversationId,
    requestId: request.requestId,
    owner,
    fence,
    generation: reading.conversation.value.generation,
    updateTime,
  });
  return { ...run, lease, signal: AbortSignal.any([signal, lease.lost]) };
}

/** Takes the lease. Throws GuardLostError, StoreUnavailableError. */
async function takeLease(run: Run, owner: string): Promise<ClaimedRun> {
  const { dependencies, reading, request } = run;
  const { conversationId, job } = reading;
  const path = compactionJobPath(conversationId);
  const fence = (job?.value.fence ?? 0) + 1;
  const leaseUntil = new Date(run.startTime.getTime() + dependencies.config.COMPACTION_LEASE_MS);
  const attempts = {
    ...job?.value.attempts,
    [request.kind]: { requestId: request.requestId, count: run.attempt },
  };
  const { requestId } = request;
  const lease: DocumentFields = { owner, leaseUntil, fence, requestId, step: 'plan', attempts };
  const claim: Write = job
    ? { op: 'update', path, fields: lease, guard: { updateTime: job.updateTime } }
    : { op: 'create', path, fields: { ...freshJob, ...lease } };
  const status = await progressStatusWrite(run, 'RUNNING');
  // A job that is created must not appear below a conversation that was erased meanwhile.
  const guards = job
    ? []
    : [sameConversationWrite(conversationId, reading.conversation.updateTime)];
  const times = await dependencies.store.commit([claim, status, ...guards]);
  return withLease(run, { owner, fence }, times[0] ?? '');
}
