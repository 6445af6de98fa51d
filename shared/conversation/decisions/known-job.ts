import type { Conversation } from '../documents/conversation.ts';
import { isHeld, type CompactionJob } from '../documents/job.ts';

/**
 * The job as a conversation document was read with it, with its newest record alone; `job` is undefined where there is
 * none.
 */
export interface KnownJob extends Pick<Conversation, 'epoch' | 'generation' | 'settledRequest'> {
  job: CompactionJob | undefined;
}

type Asking = Pick<Conversation, 'epoch' | 'generation' | 'settledRequest' | 'compactionRequests'>;

const isQuiet = ({ compactionRequests: { auto, manual } }: Asking): boolean =>
  auto === undefined && manual === undefined;

/**
 * Whether the job still tells what it told. While a request waits it changes at every step. Else it does with a
 * generation, or with a request that came and was taken off again, and both stand in the conversation document.
 */
export const isStillTold = (known: KnownJob, conversation: Asking): boolean =>
  isQuiet(conversation) &&
  known.epoch === conversation.epoch &&
  known.generation === conversation.generation &&
  known.settledRequest === conversation.settledRequest;

/** What may be kept of a job that was read with `conversation`; undefined while somebody works at it, or is to. */
export function knownJob(
  conversation: Asking,
  job: CompactionJob | undefined,
  now: Date,
): KnownJob | undefined {
  if (!isQuiet(conversation) || isHeld(job, now)) return undefined;
  const { epoch, generation, settledRequest } = conversation;
  return {
    epoch,
    generation,
    settledRequest,
    job: job && { ...job, records: job.records.slice(-1) },
  };
}
