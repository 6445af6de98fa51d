import type { Conversation, Trigger } from '#shared/conversation/documents/conversation.ts';
import type { CompactionJob } from '#shared/conversation/documents/job.ts';
import { waitsForBudget, holdsBackForBudget, type UnpaidReason } from './brakes.ts';

// A delivery to a worker

/** What the conversation document asks for: a person's request comes before the threshold's. */
export interface CompactionRequest {
  kind: 'auto' | 'manual';
  requestId: string;
  trigger: Trigger;
  since: Date;
  focus?: string | undefined;
}

export function waitingRequest(
  conversation: Pick<Conversation, 'compactionNeeded'>,
): CompactionRequest | undefined {
  const { manual, auto } = conversation.compactionNeeded;
  if (manual) return { kind: 'manual', trigger: 'manual', ...manual };
  return auto && { kind: 'auto', ...auto };
}

/** What a worker found in the documents before it takes the lease. */
export interface ClaimFacts {
  now: Date;
  conversation:
    | (Pick<Conversation, 'state' | 'compactionNeeded'> & Partial<Pick<Conversation, 'settings'>>)
    | undefined;
  job: CompactionJob | undefined;
  /** Of the context as the documents show it now; without a need nobody asks. */
  isOverThreshold: boolean;
  isArmed: boolean;
  /** The last swaps made no progress, and nothing has grown since. */
  isStalled?: boolean;
  isBreakerClosed: boolean;
  /** The conversation has spent on compactions what it may for now. */
  isSpent?: boolean;
}

/** Why a run may not ask a model. */
export type ModelRefusal = 'BREAKER_OPEN' | 'SPEND_LIMIT' | UnpaidReason;

export type ClaimDecision =
  /** Nothing to do and nothing to record: a duplicate, late or orphaned event. */
  | { kind: 'nothing'; reason: 'NOT_LIVE' | 'NO_NEED' }
  /** It waits for the day to turn; the sweep comes back to it. */
  | { kind: 'nothing'; reason: 'UNPAID' }
  | { kind: 'busy'; reason: 'LEASE_HELD' | 'RETRY_LATER'; retryAfterMs: number }
  /** The outcome stands in the job already; only the need is left to clear. */
  | { kind: 'settled'; need: CompactionRequest }
  /** An outcome without work. */
  | {
      kind: 'outcome';
      need: CompactionRequest;
      state: 'NOOP' | 'FAILED_ERROR' | 'ABORTED';
      reason: string;
    }
  /** With a `refusal` no model is asked: outputs may be shortened, or turns folded by code. */
  | {
      kind: 'claim';
      need: CompactionRequest;
      attempt: number;
      isModelAllowed: boolean;
      refusal?: ModelRefusal;
    };

/**
 * What a delivery leads to, from the documents alone: the event is only a hint. A manual request passes
 * threshold, breaker and back-off, but neither another worker's lease nor what may be spent.
 */
export function decideClaim(facts: ClaimFacts): ClaimDecision {
  if (facts.conversation?.state !== 'live') return { kind: 'nothing', reason: 'NOT_LIVE' };
  const need = waitingRequest(facts.conversation);
  return need ? decideRequest(facts, need) : { kind: 'nothing', reason: 'NO_NEED' };
}

/** A need is tried this often; then it is settled with what was found, so that none is served for ever. */
export const ATTEMPTS_PER_NEED = 3;

function decideRequest(facts: ClaimFacts, need: CompactionRequest): ClaimDecision {
  const { job, now } = facts;
  const attempts = attemptsAt(job, need);
  const isManual = need.kind === 'manual';
  if (job && job.owner !== '' && job.leaseUntil > now)
    return {
      kind: 'busy',
      reason: 'LEASE_HELD',
      retryAfterMs: job.leaseUntil.getTime() - now.getTime(),
    };
  if (isRecorded(job, need)) return { kind: 'settled', need };
  if (facts.conversation?.compactionNeeded.cancel === need.requestId)
    return { kind: 'outcome', need, state: 'ABORTED', reason: CANCELLED_BY_USER };
  if (attempts >= ATTEMPTS_PER_NEED)
    return { kind: 'outcome', need, state: 'FAILED_ERROR', reason: 'ATTEMPTS_USED_UP' };
  const waitMs = Math.max(0, (job?.retryAt?.getTime() ?? 0) - now.getTime());
  if (waitMs > 0 && holdsBackForBudget(job, need)) return { kind: 'nothing', reason: 'UNPAID' };
  if (waitMs > 0 && !isManual) return { kind: 'busy', reason: 'RETRY_LATER', retryAfterMs: waitMs };
  if (!isManual && isSwitchedOff(facts.conversation?.settings, need.trigger))
    return { kind: 'outcome', need, state: 'NOOP', reason: 'SWITCHED_OFF' };
  if (NEEDS_THRESHOLD[need.trigger] && !facts.isOverThreshold)
    return { kind: 'outcome', need, state: 'NOOP', reason: 'BELOW_THRESHOLD' };
  if (need.trigger === 'auto' && !facts.isArmed)
    return { kind: 'outcome', need, state: 'NOOP', reason: 'NOT_ARMED' };
  // A person's request and a search are nothing without a model.
  const needsModel = isManual || need.trigger === 'blocked';
  if (facts.isStalled === true && !needsModel)
    return { kind: 'outcome', need, state: 'NOOP', reason: 'NO_PROGRESS' };
  const refusal = refusalOf(facts, need);
  if (needsModel && refusal !== undefined)
    return { kind: 'outcome', need, state: 'NOOP', reason: refusal };
  const isModelAllowed = refusal === undefined;
  return {
    kind: 'claim',
    need,
    attempt: attempts + 1,
    isModelAllowed,
    ...(refusal && { refusal }),
  };
}

const NEEDS_THRESHOLD: Readonly<Record<Trigger, boolean>> = {
  auto: true,
  modelSwitch: true,
  manual: false,
  overflow: false,
  idle: false,
  blocked: false,
};

function isRecorded(job: CompactionJob | undefined, need: CompactionRequest): boolean {
  return (job?.records ?? []).some(
    ({ requestId, state, reason }) =>
      requestId === need.requestId &&
      // One that waits for dollars is not settled.
      !(state === 'NOOP' && waitsForBudget(reason)) &&
      (need.kind === 'manual' || state === 'COMPACTED' || state === 'CONTENT_TRUNCATED'),
  );
}

/** Attempts at a need so far, by whichever counter knows it. */
function attemptsAt(job: CompactionJob | undefined, need: CompactionRequest): number {
  if (job?.autoAttempts?.requestId === need.requestId) return job.autoAttempts.count;
  return job?.requestId === need.requestId ? job.attempts : 0;
}

/** Whether the settings keep an automatic need from being served: the owner may have changed them while it waited. */
export function isSwitchedOff(
  settings: Conversation['settings'] | undefined,
  trigger: Trigger,
): boolean {
  // Without the search the conversation would get no answer any more.
  if (trigger === 'blocked') return false;
  const { compaction = 'auto' } = settings ?? {};
  return compaction === 'off' || (compaction === 'manual' && trigger !== 'overflow');
}

/** Money comes before the breaker, which holds up neither a person nor the search that may let summaries succeed again. */
function refusalOf(
  { isSpent, isBreakerClosed }: ClaimFacts,
  need: CompactionRequest,
): ModelRefusal | undefined {
  if (isSpent === true) return 'SPEND_LIMIT';
  const passes = need.kind === 'manual' || need.trigger === 'blocked';
  return passes || isBreakerClosed ? undefined : 'BREAKER_OPEN';
}

// A cancellation

/** Why a compaction ended that its owner called off. */
export const CANCELLED_BY_USER = 'CANCELLED_BY_USER';

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

// The sweep

/** A need that waits longer than its event travels is published again. */
export const REPUBLISH_AFTER_MS = 60_000;

/** A need that no worker could serve or settle for this long is settled by the sweep. */
const GIVE_UP_AFTER_MS = 24 * 60 * 60_000;

/** One that waits for dollars is looked at again and again by workers; some days later nobody needs it any more. */
const GIVE_UP_UNPAID_AFTER_MS = 7 * GIVE_UP_AFTER_MS;

type OverdueDecision =
  | { kind: 'publish' }
  /** Somebody has it in hand, or a back-off runs; the next sweep looks again. */
  | { kind: 'wait' }
  /** Nobody will ever serve it: settled with a record. */
  | { kind: 'drop'; state: 'NOOP' | 'FAILED_ERROR'; reason: 'NOT_LIVE' | 'NOT_SERVED' };

/**
 * What the sweep does with a need. `job` is undefined where there is none, or none that can be read: a
 * delivery that fails on it for ever ends after `GIVE_UP_AFTER_MS`.
 */
export function decideOverdue(facts: {
  now: Date;
  state: Conversation['state'];
  need: Pick<CompactionRequest, 'kind' | 'since' | 'requestId'>;
  job: Pick<CompactionJob, 'owner' | 'leaseUntil' | 'retryAt' | 'records'> | undefined;
}): OverdueDecision {
  const { now, state, need, job } = facts;
  const waitedMs = now.getTime() - need.since.getTime();
  if (state === 'deleted') return { kind: 'drop', state: 'NOOP', reason: 'NOT_LIVE' };
  // A fork begins with its own needs, an erased conversation has none.
  if (state !== 'live' || waitedMs <= REPUBLISH_AFTER_MS) return { kind: 'wait' };
  if (job && job.owner !== '' && job.leaseUntil > now) return { kind: 'wait' };
  const isUnpaid = holdsBackForBudget(job, need);
  if (waitedMs > (isUnpaid ? GIVE_UP_UNPAID_AFTER_MS : GIVE_UP_AFTER_MS))
    return { kind: 'drop', state: 'FAILED_ERROR', reason: 'NOT_SERVED' };
  // A person who asks passes the back-off, and no limit in dollars.
  if ((need.kind === 'auto' || isUnpaid) && job?.retryAt && job.retryAt > now)
    return { kind: 'wait' };
  return { kind: 'publish' };
}
