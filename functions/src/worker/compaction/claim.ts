import { spendAllowance } from '#functions/config/conversation-policy.ts';
import { passWorkerCrashPoint } from '#functions/lib/crash-points.ts';
import { exhaustedBudget } from '#functions/quota/paid-call.ts';
import { sizeBrakes } from '#shared/compaction/brake.ts';
import {
  decideClaim,
  waitingRequest,
  type ClaimDecision,
  type CompactionRequest,
} from '#shared/compaction/claim-decision.ts';
import { isOverThreshold } from '#shared/compaction/policy.ts';
import { freshJob } from '#shared/conversation/documents/job.ts';
import { compactionJobPath } from '#shared/conversation/documents/paths.ts';
import { sameConversationWrite } from '#shared/conversation/writes/status-write.ts';
import { mayBeCommitted } from '#shared/errors.ts';
import type { DocumentFields, Write } from '#shared/ports/ports.ts';
import type { CompactionDependencies } from './compaction-dependencies.ts';
import {
  readContext,
  readConversationAndJob,
  type ConversationAndJob,
} from './draft/read-for-compaction.ts';
import type { TakenLease } from './job-lease.ts';
import { unchanged } from './attempt-outcome.ts';
import { outcomeStatusWrite } from './report.ts';
import type { Reading, Run } from './run.ts';

/** Two workers that start together meet at most a few times before one holds the lease. */
const CLAIM_TRIES = 5;

export type Claim =
  | Extract<ClaimDecision, { kind: 'nothing' | 'later' | 'settled' }>
  | { kind: 'outcome'; run: Run; state: 'NOOP' | 'FAILED_ERROR' | 'ABORTED'; reason: string }
  | { kind: 'claimed'; run: Run; taken: TakenLease };

function decide(
  { config, clock }: Pick<CompactionDependencies, 'config' | 'clock'>,
  reading: Reading,
): ClaimDecision {
  const { history, policy } = reading;
  const conversation = reading.conversation.value;
  // Statements that are to be derived again come of more than the context shows.
  const tokens = Math.max(reading.tokens, reading.foldedTokens);
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

/** A claim without a model where the dollars of the day are used up; read only by who would ask one. */
async function refuseUnpaid(
  dependencies: CompactionDependencies,
  decision: ClaimDecision,
  { ownerUid }: { ownerUid: string },
): Promise<ClaimDecision> {
  if (decision.kind !== 'claim' || decision.refusal) return decision;
  const refusal = await exhaustedBudget(dependencies, ownerUid);
  return refusal ? { ...decision, refusal } : decision;
}

interface Taking {
  run: Run;
  owner: string;
}

async function takeLease({ run, owner }: Taking): Promise<TakenLease> {
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
  const status = await outcomeStatusWrite(run, unchanged(reading.tokens, { state: 'RUNNING' }));
  // A job that is not there guards nothing: below a conversation that is erased meanwhile it would stay.
  const fenced = job
    ? []
    : [sameConversationWrite(conversationId, reading.conversation.updateTime)];
  const times = await dependencies.store.commit([claim, status, ...fenced]);
  const { generation } = reading.conversation.value;
  return { conversationId, requestId, owner, fence, generation, updateTime: times[0] ?? '' };
}

/** A lease that an earlier try took and whose reply was lost. */
const ownLease = (
  found: ConversationAndJob,
  run: Run | undefined,
  owner: string,
): Claim | undefined =>
  run && found.job?.value.owner === owner
    ? {
        kind: 'claimed',
        run,
        taken: {
          conversationId: run.reading.conversationId,
          requestId: run.request.requestId,
          owner,
          fence: found.job.value.fence,
          generation: run.reading.conversation.value.generation,
          updateTime: found.job.updateTime,
        },
      }
    : undefined;

const runOf = (
  dependencies: CompactionDependencies,
  reading: Reading,
  request: CompactionRequest,
): Omit<Run, 'attempt' | 'refusal'> => ({
  dependencies,
  reading,
  request,
  startTime: dependencies.clock.now(),
  bill: { calls: 0, promptTokens: 0, outputTokens: 0, costMicros: 0 },
});

/**
 * Takes the lease of a conversation's compaction if its documents, as they stand now, ask for one.
 * Duplicate, late and reordered deliveries end here without cost.
 */
export async function claimCompaction(
  dependencies: CompactionDependencies,
  conversationId: string,
): Promise<Claim> {
  const owner = dependencies.randomness.uuid();
  let tried: Run | undefined;
  // Not `retry`: only a failed commit is tried again; a read that fails ends the claim.
  for (let tries = 0; tries < CLAIM_TRIES; tries++) {
    const found = await readConversationAndJob(dependencies, conversationId);
    const own = ownLease(found, tried, owner);
    if (own) return own;
    const { conversation, job } = found;
    if (conversation?.value.state !== 'live') return { kind: 'nothing', reason: 'NOT_LIVE' };
    if (!waitingRequest(conversation.value)) return { kind: 'nothing', reason: 'NO_REQUEST' };
    const reading = await readContext(dependencies, conversationId, { conversation, job });
    const decision = await refuseUnpaid(
      dependencies,
      decide(dependencies, reading),
      reading.conversation.value,
    );
    if (decision.kind !== 'claim' && decision.kind !== 'outcome') return decision;
    const run = runOf(dependencies, reading, decision.request);
    if (decision.kind === 'outcome') {
      const { state, reason } = decision;
      return { kind: 'outcome', run: { ...run, attempt: 0, refusal: undefined }, state, reason };
    }
    await passWorkerCrashPoint(dependencies, 'before-claim');
    const { attempt, refusal } = decision;
    tried = { ...run, attempt, refusal };
    try {
      return { kind: 'claimed', run: tried, taken: await takeLease({ run: tried, owner }) };
    } catch (error) {
      // A lost reply may have been applied: the next reading shows whose lease it is.
      if (!mayBeCommitted(error)) throw error;
    }
  }
  return { kind: 'later', reason: 'LEASE_HELD' };
}
