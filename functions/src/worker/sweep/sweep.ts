import { passWorkerCrashPoint } from '#functions/lib/crash-points.ts';
import { timeoutAfter } from '#functions/lib/deadline.ts';
import { settleAll } from '#functions/lib/promises.ts';
import type { WorkerDependencies } from '#functions/worker/worker-dependencies.ts';
import { sweepAfterTurns } from './sweep-after-turns.ts';
import { sweepClaims } from './sweep-claims.ts';
import { sweepErasures } from './sweep-erasures.ts';
import { guarded, type Sweep, type SweepCounts } from './sweep-pass.ts';
import { sweepRequests } from './sweep-requests.ts';
import { sweepTurns } from './sweep-turns.ts';

/** Ends before the next sweep begins, five minutes later. */
const SWEEP_TIME_MS = 240_000;

const nothingDone = (): SweepCounts => ({
  turnsClosed: 0,
  requestsPublished: 0,
  requestsDropped: 0,
  conversationsErased: 0,
  erasuresHandedOver: 0,
  erasuresFinished: 0,
  tombstonesDropped: 0,
  claimsFinished: 0,
  afterTurnsRun: 0,
  failed: 0,
});

/** Side by side: however much one of them finds, the others get their time. */
async function sweepAll(sweep: Sweep): Promise<void> {
  await settleAll([
    guarded(sweep, 'turns', () => sweepTurns(sweep)),
    guarded(sweep, 'requests', () => sweepRequests(sweep)),
    guarded(sweep, 'erasures', () => sweepErasures(sweep)),
    guarded(sweep, 'claims', () => sweepClaims(sweep)),
    guarded(sweep, 'afterTurns', () => sweepAfterTurns(sweep)),
  ]);
  await passWorkerCrashPoint(sweep.dependencies, 'sweep-swept');
}

/**
 * Mends what nobody came back to, in all conversations: closes abandoned turns, publishes or settles compaction
 * requests, finishes erasures and claims, and erases what has expired. It remembers nothing but how far it came with the requests:
 * what is mended is not found again, what is not is met by the next sweep, so that it may be stopped and repeated at any
 * place. Two at once do everything at most twice. Ends when `signal` fires, after four minutes at the latest. Throws
 * nothing but what a test has a crash point throw.
 */
export async function runSweep(
  dependencies: WorkerDependencies,
  signal: AbortSignal,
): Promise<SweepCounts> {
  const { clock, logger } = dependencies;
  const startTime = clock.now();
  const timeout = timeoutAfter(dependencies, SWEEP_TIME_MS);
  const sweep: Sweep = {
    dependencies,
    signal: AbortSignal.any([signal, timeout.signal]),
    counts: nothingDone(),
  };
  try {
    await sweepAll(sweep);
    logger.log('INFO', 'sweep_finished', {
      ...sweep.counts,
      isComplete: !sweep.signal.aborted,
      durationMs: clock.now().getTime() - startTime.getTime(),
    });
    return sweep.counts;
  } finally {
    timeout.stop();
  }
}
