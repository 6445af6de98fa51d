/** Resolves when all of `works` have ended, whatever became of the others. Throws the first failure. */
export async function settleAll(works: readonly Promise<void>[]): Promise<void> {
  for (const ended of await Promise.allSettled(works))
    if (ended.status === 'rejected') throw ended.reason;
}
