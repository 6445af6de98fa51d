import type { Conversation, Trigger } from '#shared/conversation/documents/conversation.ts';
import {
  isHeld,
  type CompactionJob,
  type CompactionRecord,
} from '#shared/conversation/documents/job.ts';
import {
  brakeOn,
  jobBrakes,
  type Brake,
  type BrakeReason,
  type SizeBrake,
  type SpendAllowance,
} from './brake.ts';
import { isUnpaid, type OutcomeState } from './outcome.ts';

// A delivery to a worker

/** What the conversation document asks for. */
export interface CompactionRequest {
  kind: 'auto' | 'manual';
  requestId: string;
  trigger: Trigger;
  since: Date;
  focus?: string | undefined;
}

export function requestOfKind(
  { compactionRequests: { manual, auto } }: Pick<Conversation, 'compactionRequests'>,
  kind: CompactionRequest['kind'],
): CompactionRequest | undefined {
  if (kind === 'manual') return manual && { kind, trigger: 'manual', ...manual };
  return auto && { kind, ...auto };
}

/** The request that is served next: a person's comes before the threshold's. */
export const waitingRequest = (
  conversation: Pick<Conversation, 'compactionRequests'>,
): CompactionRequest | undefined =>
  requestOfKind(conversation, 'manual') ?? requestOfKind(conversation, 'auto');

/** The requests without an outcome, a person's first. One that has an outcome stands until its worker has told of it. */
export const requestsWithoutOutcome = (
  conversation: Pick<Conversation, 'compactionRequests'>,
  job: CompactionJob | undefined,
): CompactionRequest[] =>
  (['manual', 'auto'] as const)
    .map((kind) => requestOfKind(conversation, kind))
    .filter((request) => request !== undefined)
    .filter((request) => !findRecord(job, request));

/** What a worker reads before it takes the lease. */
interface ClaimFacts {
  now: Date;
  conversation: Pick<Conversation, 'state' | 'compactionRequests' | 'settings'>;
  job: CompactionJob | undefined;
  /** Of the context as the documents show it now. */
  isOverThreshold: boolean;
  tokens: number;
  sizeBrakes: readonly SizeBrake[];
  /** What the conversation may spend on compactions. */
  allowance: SpendAllowance;
}

export type ClaimDecision =
  /** Nothing to do and nothing to record: a duplicate, late or orphaned event. */
  | { kind: 'nothing'; reason: 'NOT_LIVE' | 'NO_REQUEST' }
  /**
   * Not now. The documents remember it: whoever holds the lease looks for more, and the sweep comes back after the
   * lease or the pause. `retryAfterMs` where a time is known.
   */
  | { kind: 'later'; reason: 'LEASE_HELD' | 'BEING_TOLD' | BrakeReason; retryAfterMs?: number }
  /** The outcome stands in the job, and its worker died before it took the request off. Perhaps nobody was told. */
  | { kind: 'recorded'; request: CompactionRequest; record: CompactionRecord }
  /** The request ends without work. */
  | {
      kind: 'outcome';
      request: CompactionRequest;
      state: 'NOOP' | 'FAILED_ERROR' | 'ABORTED';
      reason: string;
    }
  /** With a `noModelReason` no model is asked: outputs may be shortened, or turns folded by code. */
  | { kind: 'claim'; request: CompactionRequest; attempt: number; noModelReason?: BrakeReason };

/**
 * What a delivery leads to, from the documents alone: the event is only a hint. What holds a request back is the
 * brake's (`brakeOn`); nobody passes another worker's lease.
 */
export function decideClaim(facts: ClaimFacts): ClaimDecision {
  if (facts.conversation.state !== 'live') return { kind: 'nothing', reason: 'NOT_LIVE' };
  const request = waitingRequest(facts.conversation);
  return request ? decideRequest(facts, request) : { kind: 'nothing', reason: 'NO_REQUEST' };
}

/** A request is tried this often; then it is settled with what was found, so that none is served for ever. */
const ATTEMPTS_PER_REQUEST = 3;

/** A worker that lives has told of an outcome by then: the event, and the PostCompact hooks one after the other. */
const TOLD_WITHIN_MS = 60_000;

function decideRequest(facts: ClaimFacts, request: CompactionRequest): ClaimDecision {
  const { conversation, job, now, tokens } = facts;
  if (isHeld(job, now)) return { kind: 'later', reason: 'LEASE_HELD' };
  const record = findRecord(job, request);
  if (record) return decideRecorded(request, record, now);
  if (conversation.compactionRequests.cancel === request.requestId)
    return { kind: 'outcome', request, state: 'ABORTED', reason: CANCELLED_BY_USER };
  const attempts = attemptsAt(job, request);
  if (attempts >= ATTEMPTS_PER_REQUEST)
    return { kind: 'outcome', request, state: 'FAILED_ERROR', reason: 'ATTEMPTS_USED_UP' };

  const brakes = [...jobBrakes(job?.brake, facts.allowance, now), ...facts.sizeBrakes];
  const braked = brakeOn(brakes, { trigger: request.trigger, now, tokens });
  if (braked?.effect === 'waits') return waitFor(braked.brake, now);
  if (request.kind === 'auto' && isSwitchedOff(conversation.settings, request.trigger))
    return { kind: 'outcome', request, state: 'NOOP', reason: 'SWITCHED_OFF' };
  if (NEEDS_THRESHOLD[request.trigger] && !facts.isOverThreshold)
    return { kind: 'outcome', request, state: 'NOOP', reason: 'BELOW_THRESHOLD' };
  if (braked?.effect === 'ends')
    return { kind: 'outcome', request, state: 'NOOP', reason: braked.brake.reason };
  const attempt = attempts + 1;
  return braked
    ? { kind: 'claim', request, attempt, noModelReason: braked.brake.reason }
    : { kind: 'claim', request, attempt };
}

function decideRecorded(
  request: CompactionRequest,
  record: CompactionRecord,
  now: Date,
): ClaimDecision {
  const pauseMs = record.finishedAt.getTime() + TOLD_WITHIN_MS - now.getTime();
  return pauseMs > 0
    ? { kind: 'later', reason: 'BEING_TOLD', retryAfterMs: pauseMs }
    : { kind: 'recorded', request, record };
}

/** No worker waits for dollars, which may come at any time: the sweep publishes the request again. */
function waitFor({ reason, until }: Brake, now: Date): ClaimDecision {
  return until === undefined || isUnpaid(reason)
    ? { kind: 'later', reason }
    : { kind: 'later', reason, retryAfterMs: until.getTime() - now.getTime() };
}

const NEEDS_THRESHOLD: Readonly<Record<Trigger, boolean>> = {
  auto: true,
  modelSwitch: true,
  manual: false,
  overflow: false,
  blocked: false,
};

/** The outcome of a request that has ended. An automatic one that changed nothing has not: it may be tried again. */
function findRecord(
  job: CompactionJob | undefined,
  request: CompactionRequest,
): CompactionRecord | undefined {
  return job?.records.findLast(
    ({ requestId, state, reason }) =>
      requestId === request.requestId &&
      // A request that waits for dollars is not settled.
      !(state === 'NOOP' && isUnpaid(reason)) &&
      (request.kind === 'manual' || state === 'COMPACTED' || state === 'CONTENT_TRUNCATED'),
  );
}

function attemptsAt(job: CompactionJob | undefined, { kind, requestId }: CompactionRequest) {
  const counted = job?.attempts[kind];
  return counted?.requestId === requestId ? counted.count : 0;
}

/** Whether the settings keep an automatic request from being served: the owner may have changed them while it waited. */
export function isSwitchedOff(
  { compaction = 'auto' }: Conversation['settings'],
  trigger: Trigger,
): boolean {
  // Without the search the conversation would get no answer any more.
  if (trigger === 'blocked') return false;
  return compaction === 'off' || (compaction === 'manual' && trigger !== 'overflow');
}

// A cancellation

/** Why a compaction ended that its owner called off. */
export const CANCELLED_BY_USER = 'CANCELLED_BY_USER';

interface CancelFacts {
  conversation: Pick<Conversation, 'compactionRequests'>;
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
  | { kind: 'queued'; request: CompactionRequest };

/**
 * What the cancellation of a compaction comes to. A job is named by the id of its request, an automatic one
 * too; one that has ended stays as it is.
 */
export function decideCancel({ conversation, job, jobId, now }: CancelFacts): CancelDecision {
  if (isHeld(job, now) && job?.requestId === jobId)
    return { kind: 'running', isTold: conversation.compactionRequests.cancel === jobId };
  const request = requestsWithoutOutcome(conversation, job).find(
    ({ requestId }) => requestId === jobId,
  );
  if (request) return { kind: 'queued', request };
  const record = job?.records.findLast(({ requestId }) => requestId === jobId);
  return record ? { kind: 'ended', state: record.state } : { kind: 'unknown' };
}

// The sweep

/** A request that waits longer than its event travels is published again. */
export const REPUBLISH_AFTER_MS = 60_000;

/** A request that no worker could serve or settle for this long is settled by the sweep. */
const GIVE_UP_AFTER_MS = 24 * 60 * 60_000;

/** A request that waits for dollars is given up some days later, when nobody needs it any more. */
const GIVE_UP_UNPAID_AFTER_MS = 7 * GIVE_UP_AFTER_MS;

type OverdueDecision =
  | { kind: 'publish' }
  /** A worker holds the job, or a back-off runs; the next sweep looks again. */
  | { kind: 'wait' }
  /** Nobody will ever serve it: settled with a record. */
  | { kind: 'drop'; state: 'NOOP' | 'FAILED_ERROR'; reason: 'NOT_LIVE' | 'NOT_SERVED' };

/**
 * What the sweep does with a request. `job` is undefined where there is none, or none that can be read: a
 * delivery that fails on it for ever ends after `GIVE_UP_AFTER_MS`.
 */
export function decideOverdue(facts: {
  now: Date;
  state: Conversation['state'];
  request: Pick<CompactionRequest, 'since' | 'trigger'>;
  job: Pick<CompactionJob, 'owner' | 'leaseUntil' | 'brake'> | undefined;
}): OverdueDecision {
  const { now, state, request, job } = facts;
  const waitedMs = now.getTime() - request.since.getTime();
  if (state === 'deleted') return { kind: 'drop', state: 'NOOP', reason: 'NOT_LIVE' };
  // A fork begins with its own requests, an erased conversation has none.
  if (state !== 'live' || waitedMs <= REPUBLISH_AFTER_MS) return { kind: 'wait' };
  if (isHeld(job, now)) return { kind: 'wait' };
  const pause = job?.brake.pause;
  if (waitedMs > (isUnpaid(pause?.reason) ? GIVE_UP_UNPAID_AFTER_MS : GIVE_UP_AFTER_MS))
    return { kind: 'drop', state: 'FAILED_ERROR', reason: 'NOT_SERVED' };
  // The size of the context is not read: no request waits for a pause that ends with growth (`BREAKER_OPEN`).
  const braked = brakeOn(pause ? [pause] : [], { trigger: request.trigger, now, tokens: 0 });
  return braked?.effect === 'waits' ? { kind: 'wait' } : { kind: 'publish' };
}

export interface SettleFacts {
  kind: CompactionRequest['kind'];
  state: OutcomeState;
  reason?: string | undefined;
  /** Of FAILED_ERROR: whether the same attempt may succeed later. */
  isRetryable: boolean;
  /** What the failing service asked for. */
  retryAfterMs?: number | undefined;
  /** Attempts at this request, the present one included. */
  attempts: number;
  untilNextDayMs: number;
}

export type SettleDecision =
  /** The request is settled and leaves the conversation document. */
  | { kind: 'clear' }
  /** The request stays: the worker waits, or the sweep publishes it again after that time. */
  | { kind: 'retry'; retryAfterMs: number }
  /** The request stays, and none of its attempts is used up: the sweep publishes it again after that time. */
  | { kind: 'wait'; retryAfterMs: number };

/**
 * What becomes of the request after an outcome. A manual one is settled by any outcome: the person sees it and may ask
 * again. None is tried more than `ATTEMPTS_PER_REQUEST` times. What no model was asked for because the dollars of the day
 * are used up was not tried: it waits.
 */
export function decideSettle(facts: SettleFacts): SettleDecision {
  if (facts.state === 'NOOP' && isUnpaid(facts.reason))
    return { kind: 'wait', retryAfterMs: unpaidWaitMs(facts) };
  const isLast = facts.attempts >= ATTEMPTS_PER_REQUEST;
  if (facts.kind === 'manual' || isLast || !isWorthAnotherTry(facts)) return { kind: 'clear' };
  return { kind: 'retry', retryAfterMs: retryAfterMs(facts) };
}

function isWorthAnotherTry({ state, reason, isRetryable }: SettleFacts): boolean {
  if (reason === CANCELLED_BY_USER) return false;
  switch (state) {
    case 'FAILED_ERROR':
      return isRetryable;
    // A model rarely writes the same poor summary twice, and a counter comes back.
    case 'FAILED_EMPTY_SUMMARY':
    case 'FAILED_TOKEN_COUNT_ERROR':
    case 'FAILED_VERIFICATION':
    case 'ABORTED':
    case 'SUPERSEDED':
      return true;
    case 'COMPACTED':
    case 'CONTENT_TRUNCATED':
    case 'NOOP':
    case 'FAILED_INFLATED_TOKEN_COUNT':
    case 'QUEUED':
    case 'RUNNING':
    case 'VERIFYING':
      return false;
  }
}

/** Wait before the second attempt; the third waits three times as long. */
const FIRST_RETRY_MS = 10_000;

const RETRY_FACTOR = 3;

const LONGEST_RETRY_MS = 10 * 60_000;

/** After a conversation has moved on the next attempt reads it as it is then. */
const SUPERSEDED_RETRY_MS = 1_000;

function retryAfterMs(facts: SettleFacts): number {
  if (facts.state === 'SUPERSEDED') return SUPERSEDED_RETRY_MS;
  const backOffMs = FIRST_RETRY_MS * RETRY_FACTOR ** Math.max(0, facts.attempts - 1);
  return Math.min(LONGEST_RETRY_MS, Math.max(backOffMs, facts.retryAfterMs ?? 0));
}

/**
 * How long a request waits that nobody could pay for: until the day turns, but no longer than this, in case the limit
 * was raised, or the context has grown so far that code alone folds it; and not shorter than that.
 */
const LONGEST_UNPAID_MS = 60 * 60_000;

const SHORTEST_UNPAID_MS = 60_000;

/** Where calls that are under way hold the rest of the dollars, the error asks to come back soon. */
const unpaidWaitMs = ({ retryAfterMs: askedMs = Infinity, untilNextDayMs }: SettleFacts): number =>
  Math.max(SHORTEST_UNPAID_MS, Math.min(LONGEST_UNPAID_MS, untilNextDayMs, askedMs));
