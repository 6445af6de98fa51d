/** Runs work under a key once what was asked for before it under the same one has ended. */
export type OneAtATime = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/**
 * Runs what is asked for under one key one after the other, so that writers of one document in this process
 * do not meet. A failure is told to who asked, and holds up nobody.
 */
export function createOneAtATime(): OneAtATime {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (last.get(key) === mine) last.delete(key);
    }
  };
}
