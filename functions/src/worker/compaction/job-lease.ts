import { failureReason } from '#functions/lib/failure-reason.ts';
import { retry } from '#functions/lib/retry.ts';
import { CANCELLED_BY_USER } from '#shared/compaction/claim-decision.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import type { Conversation, Versioned } from '#shared/conversation/documents/conversation.ts';
import { decodeJob, type CompactionJob } from '#shared/conversation/documents/job.ts';
import { compactionJobPath } from '#shared/conversation/documents/paths.ts';
import type { DocumentFields, Write } from '#shared/ports/ports.ts';
import type { CompactionDependencies } from './compaction-dependencies.ts';
import { StoppedError } from './attempt-outcome.ts';

/** How often one guarded batch is tried. */
const COMMIT_TRIES = 5;

/** How often a worker looks whether its work is still wanted: who calls it off waits this long at most. */
const LOOK_MS = 2_000;

/** A lease that was taken: who holds which document since when. */
export interface TakenLease {
  conversationId: string;
  /** What is worked at; its owner may call it off. */
  requestId: string;
  owner: string;
  fence: number;
  /** Generation that the work is about; when it moves on, the work is in vain. */
  generation: number;
  updateTime: string;
}

/** The worker's hold on `jobs/compaction`: one writer at a time, renewed until `stop`. */
export interface JobLease {
  readonly owner: string;
  /** Update time of the job document after the last write. */
  readonly updateTime: string;
  /** The job as somebody else left it while the lease was held; undefined: nobody wrote to it. */
  readonly changedJob: CompactionJob | undefined;
  /**
   * Commits what `build` returns together with `fields` of the job, under its guard. `build` runs again
   * after a lost guard while the lease is still held. Throws StoppedError when it is not.
   */
  commit(build: () => Promise<readonly Write[]>, fields?: DocumentFields): Promise<void>;
  /** Takes over the update time after a lost reply; throws StoppedError when another holds the job. */
  readAgain(): Promise<void>;
  /** Ends the renewals; resolves when none is under way. */
  stop(): Promise<void>;
}

type LeaseDependencies = Pick<CompactionDependencies, 'store' | 'clock' | 'config' | 'logger'>;

/** A lease while it is held. */
interface HeldLease {
  dependencies: LeaseDependencies;
  taken: TakenLease;
  updateTime: string;
  changedJob: CompactionJob | undefined;
  /** Batches of one worker are serialised: each needs the update time that the one before left. */
  queue: Promise<unknown>;
}

async function readAgain(lease: HeldLease): Promise<void> {
  const { conversationId, owner, fence } = lease.taken;
  const [document] = await lease.dependencies.store.get([compactionJobPath(conversationId)]);
  const job = document && decodeJob(document);
  // Only erasing takes the job document away.
  if (!job) throw new StoppedError({ state: 'SUPERSEDED', reason: 'NOT_LIVE' });
  if (job.value.owner !== owner || job.value.fence !== fence)
    throw new StoppedError({ state: 'SUPERSEDED', reason: 'LEASE_LOST' });
  lease.updateTime = job.updateTime;
  lease.changedJob = job.value;
}

async function commitNow(
  lease: HeldLease,
  build: () => Promise<readonly Write[]>,
  fields: DocumentFields,
): Promise<void> {
  const { store, clock, config } = lease.dependencies;
  const path = compactionJobPath(lease.taken.conversationId);
  const attempt = async () => {
    const leaseUntil = new Date(clock.now().getTime() + config.COMPACTION_LEASE_MS);
    const writes = await build();
    const { updateTime } = lease;
    const times = await store.commit([
      { op: 'update', path, fields: { leaseUntil, ...fields }, guard: { updateTime } },
      ...writes,
    ]);
    lease.updateTime = times[0] ?? updateTime;
  };
  await retry(attempt, { mostTries: COMMIT_TRIES, beforeNext: () => readAgain(lease) });
}

function commit(
  lease: HeldLease,
  build: () => Promise<readonly Write[]>,
  fields: DocumentFields = {},
): Promise<void> {
  const next = lease.queue.then(() => commitNow(lease, build, fields));
  lease.queue = next.catch(() => undefined);
  return next;
}

/**
 * The conversation as it is now, where the work on it may go on. Throws StoppedError when it has moved on and the work
 * cannot succeed any more, or its owner called it off.
 */
export function refuseUnwanted(
  conversation: Versioned<Conversation> | undefined,
  work: Pick<TakenLease, 'generation' | 'requestId'>,
): Versioned<Conversation> {
  if (conversation?.value.state !== 'live')
    throw new StoppedError({ state: 'SUPERSEDED', reason: 'NOT_LIVE' });
  if (conversation.value.generation !== work.generation)
    throw new StoppedError({ state: 'SUPERSEDED', reason: 'GENERATION_MOVED' });
  if (conversation.value.compactionRequests.cancel === work.requestId)
    throw new StoppedError({ state: 'ABORTED', reason: CANCELLED_BY_USER });
  return conversation;
}

async function checkStillWanted({ dependencies: { store }, taken }: HeldLease): Promise<void> {
  refuseUnwanted(await readConversation(store, taken.conversationId), taken);
}

async function renew(lease: HeldLease): Promise<void> {
  const { dependencies, taken } = lease;
  try {
    await checkStillWanted(lease);
    await commit(lease, () => Promise.resolve([]));
  } catch (error) {
    if (error instanceof StoppedError) throw error;
    const { conversationId } = taken;
    const reason = failureReason(error);
    dependencies.logger.log('WARNING', 'compaction_lease_not_renewed', { conversationId, reason });
  }
}

/**
 * Renews a lease every quarter of its length until `stop`. A lease that is lost, or a conversation that
 * is deleted or moves on, or whose owner calls the work off (looked at every two seconds), aborts
 * `controller` with a StoppedError; a store that does not answer is asked again, because the fence and not
 * the lease makes the swap safe.
 */
export function keepLease(
  dependencies: LeaseDependencies,
  taken: TakenLease,
  controller: AbortController,
): JobLease {
  const { clock, config } = dependencies;
  const { owner, updateTime } = taken;
  const queue = Promise.resolve();
  const lease: HeldLease = { dependencies, taken, updateTime, changedJob: undefined, queue };
  const stopping = new AbortController();
  const signal = AbortSignal.any([stopping.signal, controller.signal]);
  const repeat = async (everyMs: number, work: (held: HeldLease) => Promise<void>) => {
    while (!signal.aborted) {
      await clock.wait(everyMs, signal);
      try {
        if (!signal.aborted) await work(lease);
      } catch (error) {
        // A store that does not answer is the renewals' to tell.
        if (error instanceof StoppedError) controller.abort(error);
      }
    }
  };
  const renewals = Promise.all([
    repeat(config.COMPACTION_LEASE_MS / 4, renew),
    repeat(LOOK_MS, checkStillWanted),
  ]);
  return {
    owner,
    get updateTime() {
      return lease.updateTime;
    },
    get changedJob() {
      return lease.changedJob;
    },
    readAgain: () => readAgain(lease),
    commit: (build, fields) => commit(lease, build, fields),
    async stop() {
      stopping.abort();
      await renewals;
      await lease.queue;
    },
  };
}
