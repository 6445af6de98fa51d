import { passWorkerCrashPoint } from '#functions/lib/crash-points.ts';
import { failureReason } from '#functions/lib/failure-reason.ts';
import { StoppedError } from '#functions/worker/compaction/attempt-outcome.ts';
import type { PlannedMask, Offload } from '#shared/compaction/tool-output-budget.ts';
import { blobPiecePath } from '#shared/conversation/documents/paths.ts';
import { cutIntoPieces } from '#shared/conversation/documents/turn.ts';
import type { Write } from '#shared/ports/ports.ts';
import type { ClaimedRun } from '../run.ts';

/** Pieces of 700 KiB: four stay below the store's limit of a batch. */
const PIECES_PER_BATCH = 4;

const pieceWrites = (conversationId: string, offload: Offload): Write[] =>
  cutIntoPieces(offload.text).map((text, index) => ({
    op: 'create',
    path: blobPiecePath(conversationId, { sha256: offload.name, index }),
    fields: { text },
  }));

/** Writes what is not there yet: a blob is named by its content, so what is there is the same. */
async function saveBlob(run: ClaimedRun, offload: Offload): Promise<void> {
  const writes = pieceWrites(run.reading.conversationId, offload);
  for (let i = 0; i < writes.length; i += PIECES_PER_BATCH) {
    const batch = writes.slice(i, i + PIECES_PER_BATCH);
    await run.lease.commit(async () => {
      const found = await run.dependencies.store.get(batch.map(({ path }) => path));
      return batch.filter((_, index) => found[index] === undefined);
    });
  }
}

/**
 * Whether an erasure under way is about to delete a blob: a turn that stays has the same output as the one
 * that was erased, and what is found now may be gone before the swap names it. The conversation document of this run's
 * generation tells of every such erasure: a later one takes a generation before it deletes, and with it
 * this run's swap.
 */
const isBeingErased = ({ reading }: ClaimedRun, { name }: Offload) =>
  reading.conversation.value.pendingErasure?.blobs?.includes(name) === true;

/**
 * Stores the full texts behind `masks` and returns the masks whose text is safe. A text that cannot be
 * stored costs its mask, never itself: that output stays whole. Throws StoppedError.
 */
export async function saveBlobs(
  run: ClaimedRun,
  masks: readonly PlannedMask[],
): Promise<PlannedMask[]> {
  const safe: PlannedMask[] = [];
  for (const mask of masks) {
    const { offload } = mask;
    // One word names no blob.
    if (offload && isBeingErased(run, offload)) continue;
    try {
      if (offload) await saveBlob(run, offload);
      safe.push(mask);
    } catch (error) {
      if (error instanceof StoppedError || run.signal.aborted) throw error;
      run.dependencies.logger.log('WARNING', 'compaction_blob_not_saved', {
        conversationId: run.reading.conversationId,
        seq: mask.seq,
        textLength: offload?.text.length,
        reason: failureReason(error),
      });
    }
  }
  if (safe.length > 0) await passWorkerCrashPoint(run.dependencies, 'blobs-saved');
  return safe;
}
