import type { CollectionReference, DocumentSnapshot } from '@google-cloud/firestore';
import { ChangeQueue } from '#shared/store/change-queue.ts';
import { DeadlineError } from '#functions/lib/deadline.ts';

/**
 * The snapshots of a collection's documents: all that are there, in the order of their ids, then those
 * that are created or changed, until `signal` fires. The SDK connects again by itself when the stream
 * breaks. Throws DeadlineError when the first ones take longer than `deadlineMs`, and what the SDK gives
 * for good (a right that is missing).
 */
export async function* watchCollection(
  collection: CollectionReference,
  options: { signal: AbortSignal; deadlineMs: number },
): AsyncGenerator<DocumentSnapshot[], void, undefined> {
  const { signal, deadlineMs } = options;
  const queue = new ChangeQueue<{ path: string; snapshot: DocumentSnapshot }>();
  const timer = setTimeout(() => {
    queue.fail(new DeadlineError({ operation: 'watch', deadlineMs }));
  }, deadlineMs);
  const unsubscribe = collection.onSnapshot(
    (all) => {
      clearTimeout(timer);
      for (const { type, doc } of all.docChanges()) {
        if (type === 'removed') queue.drop(doc.ref.path);
        else queue.put({ path: doc.ref.path, snapshot: doc });
      }
      queue.release();
    },
    (error) => {
      queue.fail(error);
    },
  );
  try {
    for await (const batch of queue.batches(signal)) yield batch.map(({ snapshot }) => snapshot);
  } finally {
    clearTimeout(timer);
    unsubscribe();
  }
}
