import type { Head } from '../documents/head.ts';
import type { CompactionJob } from '../documents/job.ts';

/** The job as a head was read with it, with its newest record alone; `job` is undefined where there is none. */
export interface KnownJob extends Pick<Head, 'epoch' | 'generation' | 'settledNeed'> {
  job: CompactionJob | undefined;
}

type Asking = Pick<Head, 'epoch' | 'generation' | 'settledNeed' | 'compactionNeeded'>;

const isQuiet = ({ compactionNeeded: { auto, manual } }: Asking): boolean =>
  auto === undefined && manual === undefined;

/**
 * Whether the job still tells what it told. While a need waits it changes at every step. Else it does with a
 * generation, or with a need that came and was taken off again, and both stand in the head.
 */
export const isStillTold = (known: KnownJob, head: Asking): boolean =>
  isQuiet(head) &&
  known.epoch === head.epoch &&
  known.generation === head.generation &&
  known.settledNeed === head.settledNeed;

/** What may be kept of a job that was read with `head`; undefined while somebody works at it, or is to. */
export function knownJob(
  head: Asking,
  job: CompactionJob | undefined,
  now: Date,
): KnownJob | undefined {
  const isHeld = job !== undefined && job.owner !== '' && job.leaseUntil > now;
  if (!isQuiet(head) || isHeld) return undefined;
  const { epoch, generation, settledNeed } = head;
  return { epoch, generation, settledNeed, job: job && { ...job, records: job.records.slice(-1) } };
}
