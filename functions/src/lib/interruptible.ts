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
