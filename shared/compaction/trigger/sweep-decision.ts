import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { CompactionJob } from '#shared/conversation/documents/job.ts';
import type { CompactionRequest } from '../decisions/claim-decision.ts';
import { holdsBackForBudget } from './spend-limit.ts';

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
