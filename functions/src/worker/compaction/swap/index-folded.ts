import { indexEvent } from '#shared/compaction/decisions/event.ts';
import { SEGMENT_TURNS } from '#shared/recall/segment.ts';
import { foldedThrough } from '#functions/recall/read-index.ts';
import { indexTurns } from '#functions/recall/index-turns.ts';
import type { Candidate } from '../draft/candidate.ts';
import { CrashedError, passWorkerCrashPoint } from '#functions/lib/crash-points.ts';
import type { ClaimedRun } from '../run.ts';

/** More turns without an index than these are left to a run of their own: no swap waits for the reading of a year. */
const INDEXED_HERE_MAX = 2 * SEGMENT_TURNS;

/**
 * Puts the turns that a swap is about to fold into the index of recall, so that they can be found from then on. The swap
 * does not depend on it: what fails here is asked for again by the next message.
 */
export async function indexFolded(run: ClaimedRun, candidate: Candidate): Promise<void> {
  const { dependencies, reading, signal } = run;
  const { conversationId, conversation } = reading;
  if (dependencies.config.RECALL_TOKENS === 0) return;
  const throughSeq = foldedThrough(candidate);
  try {
    if (throughSeq - (conversation.value.indexedThrough ?? 0) > INDEXED_HERE_MAX)
      await dependencies.publisher.publish({
        topic: 'compaction',
        data: indexEvent({ conversationId, isBroken: false }),
      });
    else await indexTurns(dependencies, { conversationId, throughSeq, signal });
  } catch (error) {
    if (error instanceof CrashedError) throw error;
    const name = error instanceof Error ? error.name : typeof error;
    dependencies.logger.log('WARNING', 'recall_not_indexed', { conversationId, error: name });
  }
  await passWorkerCrashPoint(dependencies, 'indexed');
}
