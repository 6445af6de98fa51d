import { decodeJob } from '../../../shared/conversation/job.ts';
import { compactionJobPath } from '../../../shared/conversation/paths.ts';
import { readHead } from '../../../shared/conversation/read-conversation.ts';
import { GuardLostError } from '../../../shared/errors.ts';
import type { DocumentFields, Write } from '../../../shared/ports.ts';
import type { CompactionDependencies } from './compaction-dependencies.ts';
import { StoppedError } from './outcome.ts';

/** How often one guarded batch is tried. */
const COMMIT_TRIES = 5;

/** A lease that was taken: who holds which document since when. */
export interface TakenLease {
  conversationId: string;
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

function createLease(dependencies: LeaseDependencies, taken: TakenLease) {
  const { store, clock, config } = dependencies;
  const { conversationId, owner, fence } = taken;
  const path = compactionJobPath(conversationId);
  let { updateTime } = taken;
  let queue: Promise<unknown> = Promise.resolve();

  async function readAgain(): Promise<void> {
    const [document] = await store.get([path]);
    const job = document && decodeJob(document);
    // Only erasing takes the job document away.
    if (!job) throw new StoppedError({ state: 'SUPERSEDED', reason: 'NOT_LIVE' });
    if (job.value.owner !== owner || job.value.fence !== fence)
      throw new StoppedError({ state: 'SUPERSEDED', reason: 'LEASE_LOST' });
    updateTime = job.updateTime;
  }

  async function commitNow(
    build: () => Promise<readonly Write[]>,
    fields: DocumentFields,
  ): Promise<void> {
    for (let tries = 1; ; tries++) {
      const leaseUntil = new Date(clock.now().getTime() + config.COMPACTION_LEASE_MS);
      const writes = await build();
      try {
        const times = await store.commit([
          { op: 'update', path, fields: { leaseUntil, ...fields }, guard: { updateTime } },
          ...writes,
        ]);
        updateTime = times[0] ?? updateTime;
        return;
      } catch (error) {
        if (!(error instanceof GuardLostError) || tries === COMMIT_TRIES) throw error;
        await readAgain();
      }
    }
  }

  return {
    owner,
    get updateTime() {
      return updateTime;
    },
    readAgain,
    /** Batches of one worker are serialised: each needs the update time that the one before left. */
    commit(build: () => Promise<readonly Write[]>, fields: DocumentFields = {}): Promise<void> {
      const next = queue.then(() => commitNow(build, fields));
      queue = next.catch(() => undefined);
      return next;
    },
    settled: () => queue,
  };
}

/** Throws StoppedError when the conversation has moved on and the work cannot succeed any more. */
async function checkStillWanted(dependencies: LeaseDependencies, taken: TakenLease) {
  const head = await readHead(dependencies.store, taken.conversationId);
  if (head?.value.state !== 'live')
    throw new StoppedError({ state: 'SUPERSEDED', reason: 'NOT_LIVE' });
  if (head.value.generation !== taken.generation)
    throw new StoppedError({ state: 'SUPERSEDED', reason: 'GENERATION_MOVED' });
}

/**
 * Renews a lease every quarter of its length until `stop`. A lease that is lost, or a conversation that
 * is deleted or moves on, aborts `controller` with a StoppedError; a store that does not answer is
 * asked again, because the fence and not the lease makes the swap safe.
 */
export function keepLease(
  dependencies: LeaseDependencies,
  taken: TakenLease,
  controller: AbortController,
): JobLease {
  const lease = createLease(dependencies, taken);
  const stopping = new AbortController();

  async function renewOnce(): Promise<void> {
    try {
      await checkStillWanted(dependencies, taken);
      await lease.commit(() => Promise.resolve([]));
    } catch (error) {
      if (error instanceof StoppedError) controller.abort(error);
      else
        dependencies.logger.log('WARNING', 'compaction_lease_not_renewed', {
          conversationId: taken.conversationId,
        });
    }
  }

  async function renew(): Promise<void> {
    const signal = AbortSignal.any([stopping.signal, controller.signal]);
    while (!signal.aborted) {
      await dependencies.clock.wait(dependencies.config.COMPACTION_LEASE_MS / 4, signal);
      if (!signal.aborted) await renewOnce();
    }
  }

  const renewals = renew();
  return {
    owner: lease.owner,
    get updateTime() {
      return lease.updateTime;
    },
    readAgain: () => lease.readAgain(),
    commit: (build, fields) => lease.commit(build, fields),
    async stop() {
      stopping.abort();
      await renewals;
      await lease.settled();
    },
  };
}
