import {
  spendAllowance,
  conversationPolicy,
  readAgainTokens,
  selectVariant,
} from '#functions/config/conversation-policy.ts';
import { selectOutputForms } from '#functions/context/next-call.ts';
import { passWorkerCrashPoint } from '#functions/lib/crash-points.ts';
import { memoryForPrompt, readNotes } from '#functions/memory/prompt-memory.ts';
import { exhaustedBudget } from '#functions/quota/paid-call.ts';
import { sizeBrakes } from '#shared/compaction/brake.ts';
import { isOverThreshold } from '#shared/compaction/policy.ts';
import {
  decideClaim,
  waitingRequest,
  type ClaimDecision,
} from '#shared/compaction/request-decisions.ts';
import {
  foldSourceTokens,
  readFoldSource,
  type FoldSource,
} from '#shared/conversation/context/find-history.ts';
import { firstTailSeq } from '#shared/conversation/context/read-conversation.ts';
import {
  decodeConversation,
  type Conversation,
  type Versioned,
} from '#shared/conversation/documents/conversation.ts';
import { freshJob, decodeJob, type CompactionJob } from '#shared/conversation/documents/job.ts';
import { compactionJobPath, conversationPath } from '#shared/conversation/documents/paths.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { sameConversationWrite } from '#shared/conversation/writes/same-conversation.ts';
import { mayBeCommitted, StoreUnavailableError } from '#shared/lib/errors.ts';
import type { DocumentFields, Write } from '#shared/ports/ports.ts';
import type { TakenLease } from './job-lease.ts';
import { outcomeStatusWrite } from './report.ts';
import {
  unchanged,
  type CompactionDependencies,
  type Reading,
  type Run,
  type ReadMemory,
} from './run.ts';

/** Two workers that start together meet at most a few times before one holds the lease; a chat may win oftener. */
const CLAIM_TRIES = 5;
const CLAIM_RETRY_MS = 50;

/** After that the event is taken from the end of the queue: a conversation that is written to all the time has its turn. */
const CONTENDED_RETRY_MS = 1_000;

type Claim =
  | Extract<ClaimDecision, { kind: 'nothing' | 'later' | 'settled' }>
  | { kind: 'outcome'; run: Run; state: 'NOOP' | 'FAILED_ERROR' | 'ABORTED'; reason: string }
  /** Others have written to the conversation at every try. */
  | { kind: 'retry'; retryAfterMs: number; reason: 'CONTENDED' }
  | { kind: 'claimed'; run: Run; taken: TakenLease };

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
    const { conversation, job } = found;
    // An earlier try took the lease, and its reply was lost.
    if (tried && job?.value.owner === owner)
      return { kind: 'claimed', run: tried, taken: takenLease(tried, job.value, job.updateTime) };
    if (conversation?.value.state !== 'live') return { kind: 'nothing', reason: 'NOT_LIVE' };
    if (!waitingRequest(conversation.value)) return { kind: 'nothing', reason: 'NO_REQUEST' };
    const reading = await readForCompaction(dependencies, conversationId, { conversation, job });
    const decision = await refuseUnpaid(
      dependencies,
      decide(dependencies, reading),
      reading.conversation.value,
    );
    if (decision.kind !== 'claim' && decision.kind !== 'outcome') return decision;
    const run = runOf(dependencies, reading, decision);
    if (decision.kind === 'outcome') {
      const { state, reason } = decision;
      return { kind: 'outcome', run, state, reason };
    }
    await passWorkerCrashPoint(dependencies, 'before-claim');
    tried = run;
    try {
      return { kind: 'claimed', run, taken: await takeLease(run, owner) };
    } catch (error) {
      // A lost reply may have been applied: the next reading shows whose lease it is.
      if (!mayBeCommitted(error)) throw error;
    }
    await dependencies.clock.wait(CLAIM_RETRY_MS * tries);
  }
  return { kind: 'retry', retryAfterMs: CONTENDED_RETRY_MS, reason: 'CONTENDED' };
}

function decide(
  { config, clock }: Pick<CompactionDependencies, 'config' | 'clock'>,
  reading: Reading,
): ClaimDecision {
  const { history, policy } = reading;
  const conversation = reading.conversation.value;
  // Statements that are to be derived again come of more than the context shows.
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

const runOf = (
  dependencies: CompactionDependencies,
  reading: Reading,
  decision: Extract<ClaimDecision, { kind: 'claim' | 'outcome' }>,
): Run => ({
  dependencies,
  reading,
  request: decision.request,
  attempt: decision.kind === 'claim' ? decision.attempt : 0,
  refusal: decision.kind === 'claim' ? decision.refusal : undefined,
  startTime: dependencies.clock.now(),
  bill: { calls: 0, promptTokens: 0, outputTokens: 0, costMicros: 0 },
});

/** What a run holds once its job document stands as `job`, written at `updateTime`. */
const takenLease = (
  { reading, request }: Run,
  { owner, fence }: Pick<CompactionJob, 'owner' | 'fence'>,
  updateTime: string,
): TakenLease => ({
  conversationId: reading.conversationId,
  requestId: request.requestId,
  owner,
  fence,
  generation: reading.conversation.value.generation,
  updateTime,
});

/** Takes the lease; below a conversation that is erased meanwhile no new job document stays. */
async function takeLease(run: Run, owner: string): Promise<TakenLease> {
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
  // A job that is not there guards nothing.
  const fenced = job
    ? []
    : [sameConversationWrite(conversationId, reading.conversation.updateTime)];
  const times = await dependencies.store.commit([claim, status, ...fenced]);
  return takenLease(run, { owner, fence }, times[0] ?? '');
}

/** A load that misses a document reads the conversation document again, this often. */
const READ_TRIES = 3;

interface ConversationAndJob {
  conversation: Versioned<Conversation> | undefined;
  job: Versioned<CompactionJob> | undefined;
}

/** Conversation and job in one round trip. */
export async function readConversationAndJob(
  { store }: Pick<CompactionDependencies, 'store'>,
  conversationId: string,
): Promise<ConversationAndJob> {
  const [conversation, job] = await store.get([
    conversationPath(conversationId),
    compactionJobPath(conversationId),
  ]);
  return {
    conversation: conversation && decodeConversation(conversation),
    job: job && decodeJob(job),
  };
}

/** The turns up to the first that is missing or not terminal: a fold names a range without holes. */
function withoutGap(turns: readonly Turn[], fromSeq: number): Turn[] {
  const gap = turns.findIndex(({ seq }, index) => seq !== fromSeq + index);
  return turns.slice(0, gap === -1 ? undefined : gap);
}

async function readSource(
  dependencies: CompactionDependencies,
  conversationId: string,
  conversation: Conversation,
): Promise<FoldSource | undefined> {
  const forms = selectOutputForms(dependencies, conversation);
  const room = { readAgainTokens: readAgainTokens(dependencies.config, conversation), forms };
  const source = await readFoldSource(dependencies, { conversationId, conversation }, room);
  return (
    source && {
      ...source,
      turns: withoutGap(source.turns, firstTailSeq({ ...conversation, ...source })),
    }
  );
}

/** What the prompts say of the owner's memory now, and once a swap has moved the newer notes up. */
async function readMemory(
  dependencies: CompactionDependencies,
  conversation: Conversation,
): Promise<ReadMemory> {
  const { config } = dependencies;
  const notes = await readNotes(dependencies, conversation.ownerUid);
  const revision = Math.max(notes.revision, conversation.memoryRevision ?? 0);
  return {
    before: memoryForPrompt(config, { conversation, notes }).standing,
    after: memoryForPrompt(config, { conversation, notes, memoryRevision: revision }).standing,
    revision,
  };
}

/**
 * The context that the conversation document names, or what of it has to be read again. Throws StoreUnavailableError
 * when the documents do not fit together after several tries.
 */
export async function readForCompaction(
  dependencies: CompactionDependencies,
  conversationId: string,
  documents: { conversation: Versioned<Conversation>; job: Versioned<CompactionJob> | undefined },
): Promise<Reading> {
  let { conversation, job } = documents;
  // Nothing throws here: a generation that is not there was swapped or erased meanwhile, so the conversation document is
  // read again.
  for (let tries = 1; tries <= READ_TRIES; tries++) {
    const [source, memory] = await Promise.all([
      readSource(dependencies, conversationId, conversation.value),
      readMemory(dependencies, conversation.value),
    ]);
    if (source) {
      const { present, ...read } = source;
      const { tokens, source: tokensSource } = present;
      const sourceTokens = source.isReadAgain
        ? foldSourceTokens(
            conversation.value,
            source,
            selectOutputForms(dependencies, conversation.value),
          )
        : tokens;
      const policy = conversationPolicy(dependencies.config, conversation.value);
      const variant = selectVariant(dependencies.config, conversation.value)?.name;
      return {
        conversationId,
        conversation,
        job,
        policy,
        ...read,
        tokens,
        tokensSource,
        memory,
        sourceTokens,
        ...(variant !== undefined && { variant }),
      };
    }
    const again = await readConversationAndJob(dependencies, conversationId);
    conversation = again.conversation ?? conversation;
    job = again.job ?? job;
  }
  throw new StoreUnavailableError({
    operation: `reading generation ${conversation.value.generation} of ${conversationId}`,
  });
}
