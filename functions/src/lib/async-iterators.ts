/*
 * Every event of a stream passes here at several places. An `async function*` with `yield*` costs each item four promises at
 * every one of them, and an `async` function two; these cost one.
 */

type Items<T, End = unknown> = Pick<AsyncIterableIterator<T, End>, 'next' | 'return'>;

const OVER = { done: true, value: undefined } as const;

/** An iterator whose reader `leave` is told when they stop before the end. */
export const iteratorWithReturn = <T, End = undefined>(
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
