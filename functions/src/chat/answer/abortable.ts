import { AppError } from '../../../../shared/errors.ts';

/** The answer was ended from outside. */
export const abortedError = () =>
  new AppError({
    status: 'CANCELLED',
    reason: 'ABORTED',
    message: 'the stream was ended from outside',
    publicMessage: 'The answer was stopped.',
  });

/**
 * What `source` gives until `signal` fires: then it throws ABORTED at once, even when the source does not
 * heed the signal itself. Nobody waits for a source that was left.
 */
export async function* untilAborted<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]();
  const aborted = Promise.withResolvers<'aborted'>();
  const onAbort = () => aborted.resolve('aborted');
  signal.addEventListener('abort', onAbort);
  try {
    for (;;) {
      if (signal.aborted) throw abortedError();
      const next = iterator.next();
      next.catch(() => undefined); // told below, unless the signal came first
      const result = await Promise.race([next, aborted.promise]);
      if (result === 'aborted') throw abortedError();
      if (result.done) return;
      yield result.value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    void iterator.return?.().catch(() => undefined);
  }
}
