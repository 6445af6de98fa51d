/*
 * Every event of every stream passes here. An `async function*` with `yield*` would cost each item five promises at every
 * place that it passes; these cost one.
 */

type Items<T, End = unknown> = Pick<AsyncIterableIterator<T, End>, 'next' | 'return'>;

const OVER = { done: true, value: undefined } as const;

/** An iterator whose reader `leave` is told when they stop before the end. */
export const leavable = <T, End = undefined>(
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

type Next<T, End> = Items<T, End> | undefined;

/**
 * The items of `first`, and then those of what `goOn` makes of its end; who has left by then is not gone on for. Throws
 * what one of them throws.
 */
export function continued<T, End, LastEnd>(
  first: Items<T, End>,
  goOn: (end: End) => Next<T, LastEnd> | Promise<Next<T, LastEnd>>,
): AsyncIterableIterator<T, LastEnd | undefined> {
  let current: Next<T, LastEnd>;
  let isAtEnd = false;
  let hasLeft = false;
  const proceed = async (end: End): Promise<IteratorResult<T, LastEnd | undefined>> => {
    isAtEnd = true;
    if (hasLeft) return OVER;
    current = await goOn(end);
    if (!hasLeft) return current ? current.next() : OVER;
    await current?.return?.();
    return OVER;
  };
  return leavable<T, LastEnd | undefined>(
    async () => {
      if (current) return current.next();
      if (isAtEnd) return OVER;
      try {
        const item = await first.next();
        return item.done ? proceed(item.value) : item;
      } catch (error) {
        isAtEnd = true;
        throw error;
      }
    },
    () => {
      hasLeft = true;
      return (current ?? first).return?.();
    },
  );
}

/** The same items; `end` is called when they have ended, broken or been left. */
export function endedBy<T>(items: Items<T>, end: () => void): AsyncIterableIterator<T> {
  return leavable<T>(
    async () => {
      try {
        const item = await items.next();
        if (!item.done) return item;
        end();
        return OVER;
      } catch (error) {
        end();
        throw error;
      }
    },
    () => {
      end();
      return items.return?.();
    },
  );
}
