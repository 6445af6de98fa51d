import type { AtCrashPoint } from '#shared/ports/ports.ts';
import { eraseCrashPoints } from '../push/erase-crash-points.ts';

/**
 * Every place between two effects of the worker, and what has happened there. A process that dies at any
 * of them leaves a conversation that the next delivery or the next sweep puts right. Nothing reaches a
 * point from outside: what happens at one is decided by the process that builds the dependencies.
 */
export const compactionCrashPoints = {
  received: 'A compaction request is read; no document is.',
  'before-claim': 'Head, job and context are read; the lease is not taken.',
  claimed: 'The lease is taken; nobody has been told.',
  planned: 'What to fold is fixed; hooks have run.',
  'call-held': 'What a call of the model may cost is held; it is not made.',
  'call-answered': 'The model has answered; what it took is not settled.',
  'call-settled': 'What a call took is settled; nobody has read its answer.',
  summarised: 'The model has written a summary.',
  'status-written': 'The owner’s devices know that the summary is being verified.',
  repaired: 'The model was asked to mend its summary.',
  'blobs-saved': 'The full texts behind shortened outputs are stored.',
  verified: 'The candidate is good and counted; nothing is swapped.',
  indexed: 'The turns that are about to be folded can be found by recall; nothing is swapped.',
  'before-swap': 'The renewals of the lease have ended; the swap is not committed.',
  swapped: 'The swap is committed; the need still stands in the head.',
  'record-written': 'An outcome without a swap is in the job; the need still stands in the head.',
  'need-renewed': 'The need was served and is renewed; nobody has been told.',
  settled: 'Record and need are settled, or the next attempt is due later.',
  reported: 'The outcome is logged and published; the event is not acknowledged.',
  acknowledged: 'Pub/Sub has its answer.',
  'sweep-turns-mended': 'The sweep has closed the abandoned turns of one conversation.',
  'sweep-published': 'The sweep has published one need again.',
  'sweep-need-dropped': 'The sweep has settled one need that no worker served.',
  'sweep-marked': 'The sweep has marked one conversation as erasing.',
  'sweep-erased': 'The sweep has erased one conversation.',
  ...eraseCrashPoints,
  'sweep-swept': 'The sweep has done all it could; the event is not acknowledged.',
} as const;

export type CompactionCrashPoint = keyof typeof compactionCrashPoints;

/** What a test lets a crash point throw. Nobody catches it, as nobody outlives a crash. */
export class CrashedError extends Error {
  constructor(point: string, options: { cause: unknown }) {
    super(`died at ${point}`, options);
    this.name = 'CrashedError';
  }
}

/** Passes a crash point: at once in production. Throws CrashedError where a test has it fail. */
export async function passCrashPoint(
  { atCrashPoint }: { atCrashPoint: AtCrashPoint },
  point: CompactionCrashPoint,
): Promise<void> {
  try {
    await atCrashPoint(point);
  } catch (error) {
    throw new CrashedError(point, { cause: error });
  }
}
