import { AppError } from '#shared/errors.ts';
import { interruptible } from '#functions/lib/interruptible.ts';

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
export function untilAborted<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncIterableIterator<T> {
  const iterator = source[Symbol.asyncIterator]();
  const forget = () => signal.removeEventListener('abort', abort);
  const items = interruptible(iterator, forget);
  const leave = () => {
    forget();
    void iterator.return?.().catch(() => undefined);
  };
  const abort = () => {
    items.interrupt(abortedError());
    leave();
  };
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  return {
    next: () => items.next(),
    return: async () => {
      leave();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
