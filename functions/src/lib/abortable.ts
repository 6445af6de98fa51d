import { AppError } from '#shared/errors.ts';
import { iteratorWithReturn } from './async-iterators.ts';

/** Items as they come, one asked for at a time. */
interface Interruptible<T> {
  next(): Promise<IteratorResult<T>>;
  /** What is waited for, and all that is asked for later, fails with `error`. The first error stays. */
  interrupt(error: unknown): void;
}

/**
 * The items of `source`, which can be broken off from outside, also where the source heeds nobody. `settled` is told
 * what has come, an item or the end; nothing where the source has failed. Two promises an item: a race with the end would be
 * four, and an `async function*` around it as many again.
 */
export function interruptible<T>(
  source: Pick<AsyncIterator<T>, 'next'>,
  settled: (result?: IteratorResult<T>) => void,
): Interruptible<T> {
  let waiting: PromiseWithResolvers<IteratorResult<T>> | undefined;
  let broken: { error: unknown } | undefined;
  return {
    next: () => {
      if (broken) return Promise.reject(broken.error);
      const { promise, resolve, reject } = (waiting = Promise.withResolvers());
      source.next().then(
        (result) => {
          settled(result);
          resolve(result);
        },
        (error: unknown) => {
          settled();
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

/** Whether no item follows what `settled` was told. */
export const isEnd = (result: IteratorResult<unknown> | undefined): boolean =>
  result === undefined || result.done === true;

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
  const items = interruptible(iterator, (result) => {
    if (isEnd(result)) forget();
  });
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
  return iteratorWithReturn(() => items.next(), leave);
}

/**
 * The reason with which a wait is ended that nobody waits for any more, and a connection that has served. Without one,
 * `abort` makes an exception with a stack trace: of a stream's processor time a tenth.
 */
export const ABORT_REASON = 'called off';
