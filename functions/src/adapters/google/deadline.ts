/** The time for a call was up. Whether the call took effect is not known. */
export class DeadlineError extends Error {
  constructor(options: { operation: string; deadlineMs: number }) {
    super(`${options.operation} took longer than ${options.deadlineMs} ms`);
    this.name = 'DeadlineError';
  }
}

/**
 * The result of `call`, or DeadlineError after `deadlineMs`. The call itself goes on in the background (the
 * Google clients cannot be aborted; their network attempts end at the same time), its late result and
 * its late error are dropped.
 */
export async function withDeadline<Result>(
  call: () => Promise<Result>,
  limit: { operation: string; deadlineMs: number },
): Promise<Result> {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new DeadlineError(limit));
  }, limit.deadlineMs);
  try {
    return await Promise.race([call(), expired]);
  } finally {
    clearTimeout(timer);
  }
}
