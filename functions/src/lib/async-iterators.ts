import { AppError } from '#shared/lib/errors.ts';

/*
 * Every event of a stream passes here at several places. An `async function*` with `yield*` costs each item four promises at
 * every one of them, and an `async` function two; these cost one.
 */

type Items<T, End = unknown> = Pick<AsyncIterableIterator<T, End>, 'next' | 'return'>;

const OVER = { done: true, value: undefined } as const;

/** An iterator whose reader `leave` is told when they stop before the end. */
const iteratorWithReturn = <T, End = undefined>(
  next: () => Promise<IteratorResult<T, End>>,
  leave: () => void | Promise<unknown>,
): AsyncIterableIterator<T, End | undefined> => ({
  next,
  return: async () => {
    await leave();
    return OVER;
  },
  [Symbol.asyncIterator]() {
    return this;
  },
});

type Continuation<T, End> = Items<T, End> | undefined;

/**
 * The items of `first`, and then those of what `continueWith` makes of its end; it is not asked for a reader who has left
 * by then. Throws what one of them throws.
 */
export function chainIterators<T, End, LastEnd>(
  first: Items<T, End>,
  continueWith: (end: End) => Continuation<T, LastEnd> | Promise<Continuation<T, LastEnd>>,
): AsyncIterableIterator<T, LastEnd | undefined> {
  let current: Continuation<T, LastEnd>;
  let isAtEnd = false;
  let hasLeft = false;
  const proceed = async (end: End): Promise<IteratorResult<T, LastEnd | undefined>> => {
    isAtEnd = true;
    if (hasLeft) return OVER;
    current = await continueWith(end);
    if (!hasLeft) return current ? current.next() : OVER;
    await current?.return?.();
    return OVER;
  };
  const nextOfFirst = () =>
    first.next().then(
      (item) => (item.done ? proceed(item.value) : item),
      (error: unknown) => {
        isAtEnd = true;
        throw error;
      },
    );
  return iteratorWithReturn<T, LastEnd | undefined>(
    () => current?.next() ?? (isAtEnd ? Promise.resolve(OVER) : nextOfFirst()),
    () => {
      hasLeft = true;
      return (current ?? first).return?.();
    },
  );
}

/**
 * The same items; `end` is called when they have ended or broken, and when their reader has `left`, also before anything
 * was read. It may be called more than once.
 */
export function callAtEnd<T>(
  items: Items<T>,
  left: AbortSignal,
  end: () => void,
): AsyncIterableIterator<T> {
  left.addEventListener('abort', end, { once: true });
  if (left.aborted) end();
  return iteratorWithReturn<T>(
    () =>
      items.next().then(
        (item) => {
          if (!item.done) return item;
          end();
          return OVER;
        },
        (error: unknown) => {
          end();
          throw error;
        },
      ),
    () => {
      end();
      return items.return?.();
    },
  );
}

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
    reason: 'ABORTED',
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
