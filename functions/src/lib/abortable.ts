import { AppError } from '#shared/errors.ts';

/** Items as they come, one asked for at a time. */
interface Interruptible<T> {
  next(): Promise<IteratorResult<T>>;
  /** What is waited for, and all that is asked for later, fails with `error`. The first error stays. */
  interrupt(error: unknown): void;
}

/**
 * The items of `source`, which can be broken off from outside, also where the source heeds nobody. `ended` is called
 * when the source is at its end, or fails. One promise an item: a race with the end would be three, and an
 * `async function*` around it as many again.
 */
export function interruptible<T>(source: AsyncIterator<T>, ended: () => void): Interruptible<T> {
  let waiting: PromiseWithResolvers<IteratorResult<T>> | undefined;
  let broken: { error: unknown } | undefined;
  return {
    next: () => {
      if (broken) return Promise.reject(broken.error);
      const { promise, resolve, reject } = (waiting = Promise.withResolvers());
      source.next().then(
        (result) => {
          if (result.done) ended();
          resolve(result);
        },
        (error: unknown) => {
          ended();
          reject(error);
        },
      );
      return promise;
    },
    interrupt: (error) => {
      broken ??= { error };
      waiting?.reject(broken.error);
    },
  };
}

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

/**
 * The reason with which a wait is ended that nobody waits for any more, and a connection that has served. Without one,
 * `abort` makes an exception with a stack trace: of a stream's processor time a tenth.
 */
export const ABORT_REASON = 'called off';
