/** Resolves when all of `works` have ended, whatever became of the others. Throws the first failure. */
export async function settleAll(works: readonly Promise<void>[]): Promise<void> {
  for (const ended of await Promise.allSettled(works))
    if (ended.status === 'rejected') throw ended.reason;
}

/** The result of `work`. Rejects with the reason of `signal` as soon as it fires, whether the work heeds it or not. */
export async function unlessAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  // A rejection that nobody waits for any more must not end the process.
  aborted.catch(() => undefined);
  const onAbort = () => reject(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** A promise that somebody may wait for, and nobody has to. */
export function ignoreRejection<T>(promise: Promise<T>): Promise<T> {
  // A stream reader may never ask for the result; its rejection must not end the process.
  promise.catch(() => undefined);
  return promise;
}
