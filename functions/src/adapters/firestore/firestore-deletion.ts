import type { BulkWriter, CollectionReference } from '@google-cloud/firestore';
import { DeadlineError } from '#functions/lib/deadline.ts';

interface Limits {
  signal: AbortSignal | undefined;
  graceMs: number;
}

/**
 * Deletes the documents of collections and all below them, also below documents that do not exist;
 * resolves to how many. The SDK reads names alone, at most 5,000 at a time, and starts at 500 deletions a
 * second, as Firestore's guide on ramping up traffic asks.
 *
 * When `signal` fires, no more deletions start and the promise is rejected, with no certain error; those
 * of the names already read (10 s at most at that rate) are awaited for `graceMs`, then left to end in
 * the background. Throws errors of the SDK.
 */
export async function deleteCollections(
  collections: readonly CollectionReference[],
  limits: Limits,
): Promise<number> {
  let deleted = 0;
  for (const collection of collections) deleted += await deleteCollection(collection, limits);
  return deleted;
}

async function deleteCollection(collection: CollectionReference, limits: Limits): Promise<number> {
  limits.signal?.throwIfAborted();
  const writer = collection.firestore.bulkWriter();
  refuseAfter(limits.signal, writer);
  let deleted = 0;
  writer.onWriteResult(() => {
    deleted += 1;
  });
  await settledOrAborted(deleteWith(writer, collection), limits);
  return deleted;
}

/** The writer is not closed before the end: the SDK would throw where nobody can catch it. */
async function deleteWith(writer: BulkWriter, collection: CollectionReference): Promise<void> {
  try {
    await collection.firestore.recursiveDelete(collection, writer);
  } finally {
    await writer.close();
  }
}

/** `recursiveDelete` cannot be stopped; it can be denied its deletions, which it takes as failed ones. */
function refuseAfter(signal: AbortSignal | undefined, writer: BulkWriter): void {
  const start = writer.delete.bind(writer);
  writer.delete = async (document, precondition) => {
    signal?.throwIfAborted();
    return start(document, precondition);
  };
}

async function settledOrAborted(call: Promise<void>, limits: Limits): Promise<void> {
  const { signal, graceMs } = limits;
  const { promise: graceOver, reject } = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const startGrace = (): void => {
    timer = setTimeout(() => {
      reject(
        new DeadlineError({ operation: 'the end of a stopped deletion', deadlineMs: graceMs }),
      );
    }, graceMs);
  };
  signal?.addEventListener('abort', startGrace);
  try {
    await Promise.race([call, graceOver]);
  } finally {
    signal?.removeEventListener('abort', startGrace);
    clearTimeout(timer);
  }
}
