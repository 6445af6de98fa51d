/** A promise that somebody may wait for, and nobody has to. */
export function ignoreRejection<T>(promise: Promise<T>): Promise<T> {
  // A stream reader may never ask for the result; its rejection must not end the process.
  promise.catch(() => undefined);
  return promise;
}
