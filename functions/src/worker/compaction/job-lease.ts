import type { Config } from '#functions/config.ts';
import { failureReason } from '#functions/lib/failure-reason.ts';
import { retry } from '#functions/lib/retry.ts';
import type { OutcomeState } from '#shared/compaction/outcome.ts';
import { CANCELLED_BY_USER } from '#shared/compaction/request-decisions.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import type { Conversation, Versioned } from '#shared/conversation/documents/conversation.ts';
import { decodeJob, type CompactionJob } from '#shared/conversation/documents/job.ts';
import { compactionJobPath } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { Clock, DocumentFields, DocumentStore, Logger, Write } from '#shared/ports/ports.ts';

/** How often one guarded batch is tried. */
const COMMIT_TRIES = 5;

/** How often a worker looks whether its work is still wanted: who calls it off waits this long at most. */
const LOOK_MS = 2_000;

/** A lease that was taken: who holds which document since when. */
interface TakenLease {
  conversationId: string;
  /** What is worked at; its owner may call it off. */
  requestId: string;
  owner: string;
  fence: number;
  /** Generation that the work is about; when it moves on, the work is in vain. */
  generation: number;
  updateTime: string;
}

interface LeaseDependencies {
  store: DocumentStore;
  clock: Clock;
  config: Pick<Config, 'COMPACTION_LEASE_MS'>;
  logger: Logger;
}

/** Why an attempt was stopped from outside; the reason of its abort signal. */
export class StoppedError extends AppError {
  readonly state: Extract<OutcomeState, 'ABORTED' | 'SUPERSEDED'>;

  constructor(stop: { state: StoppedError['state']; reason: string; cause?: unknown }) {
    super({
      status: 'ABORTED',
      reason: stop.reason,
      message: `the compaction was stopped: ${stop.reason}`,
      publicMessage: 'The compaction was stopped.',
      retryable: true,
      cause: stop.cause,
    });
    this.state = stop.state;
  }
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

/**
 * The worker's hold on `jobs/compaction`: one writer at a time, renewed every quarter of its length until `stop`. A lease
 * that is lost, or a conversation that is deleted or moves on, or whose owner calls the work off (looked at every two
 * seconds), fires `lost` with a StoppedError; a store that does not answer is asked again, because the fence and
 * not the lease makes the swap safe.
 */
export class JobLease {
  readonly owner: string;
  /** Update time of the job document after the last write. */
  updateTime: string;
  /** The job as it was read again while the lease was held; undefined: as it was when the lease was taken. */
  newestJob: CompactionJob | undefined;
  private readonly losing = new AbortController();
  /** Fires when the work is in vain, or not wanted any more. Its reason is a StoppedError. */
  readonly lost = this.losing.signal;
  private readonly dependencies: LeaseDependencies;
  private readonly taken: TakenLease;
  private readonly stopping = new AbortController();
  private readonly renewals: Promise<unknown>;
  /** Batches of one worker are serialised: each needs the update time that the one before left. */
  private queue: Promise<unknown> = Promise.resolve();

  constructor(dependencies: LeaseDependencies, taken: TakenLease) {
    this.dependencies = dependencies;
    this.taken = taken;
    this.owner = taken.owner;
    this.updateTime = taken.updateTime;
    this.renewals = Promise.all([
      this.repeat(dependencies.config.COMPACTION_LEASE_MS / 4, () => this.renew()),
      this.repeat(LOOK_MS, () => this.checkStillWanted()),
    ]);
  }

  /**
   * Commits what `build` returns together with `fields` of the job, under its guard. `build` runs again
   * after a lost guard while the lease is still held. Throws StoppedError when it is not.
   */
  commit(build: () => Promise<readonly Write[]>, fields: DocumentFields = {}): Promise<void> {
    const { store, clock, config } = this.dependencies;
    const path = compactionJobPath(this.taken.conversationId);
    const attempt = async () => {
      const leaseUntil = new Date(clock.now().getTime() + config.COMPACTION_LEASE_MS);
      const writes = await build();
      const { updateTime } = this;
      const times = await store.commit([
        { op: 'update', path, fields: { leaseUntil, ...fields }, guard: { updateTime } },
        ...writes,
      ]);
      this.updateTime = times[0] ?? updateTime;
    };
    const next = this.queue.then(() =>
      retry(attempt, { mostTries: COMMIT_TRIES, beforeNext: () => this.refresh() }),
    );
    this.queue = next.catch(() => undefined);
    return next;
  }

  /** Reads the job after a lost guard or a lost reply. Throws StoppedError when another holds it. */
  async refresh(): Promise<void> {
    const { conversationId, owner, fence } = this.taken;
    const [document] = await this.dependencies.store.get([compactionJobPath(conversationId)]);
    const job = document && decodeJob(document);
    // Only erasing takes the job document away.
    if (!job) throw new StoppedError({ state: 'SUPERSEDED', reason: 'NOT_LIVE' });
    if (job.value.owner !== owner || job.value.fence !== fence)
      throw new StoppedError({ state: 'SUPERSEDED', reason: 'LEASE_LOST' });
    this.updateTime = job.updateTime;
    this.newestJob = job.value;
  }

  /** Ends the renewals; resolves when none is under way. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.renewals;
    await this.queue;
  }

  private async repeat(everyMs: number, work: () => Promise<void>): Promise<void> {
    const signal = AbortSignal.any([this.stopping.signal, this.lost]);
    while (!signal.aborted) {
      await this.dependencies.clock.wait(everyMs, signal);
      try {
        if (!signal.aborted) await work();
      } catch (error) {
        // A store that does not answer ends nothing; `renew` logs it.
        if (error instanceof StoppedError) this.losing.abort(error);
      }
    }
  }

  private async checkStillWanted(): Promise<void> {
    const { conversationId } = this.taken;
    refuseUnwanted(await readConversation(this.dependencies.store, conversationId), this.taken);
  }

  private async renew(): Promise<void> {
    try {
      await this.checkStillWanted();
      await this.commit(() => Promise.resolve([]));
    } catch (error) {
      if (error instanceof StoppedError) throw error;
      this.dependencies.logger.log('WARNING', 'compaction_lease_not_renewed', {
        conversationId: this.taken.conversationId,
        reason: failureReason(error),
      });
    }
  }
}
