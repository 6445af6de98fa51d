/** Resolves when all of `works` have ended, whatever became of the others. Throws the first failure. */
export async function settleAll(works: readonly Promise<void>[]): Promise<void> {
  for (const ended of await Promise.allSettled(works))
    if (ended.status === 'rejected') throw ended.reason;
}

/** A promise that somebody may wait for, and nobody has to. */
export function ignoreRejection<T>(promise: Promise<T>): Promise<T> {
  // A stream reader may never ask for the result; its rejection must not end the process.
  promise.catch(() => undefined);
  return promise;
}
