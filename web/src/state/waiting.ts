const LOOK_EVERY_MS = 100;

/** Resolves after the time, or when the signal ends the wait. */
export const pause = (delayMs: number, ended: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (ended.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      ended.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, delayMs);
    ended.addEventListener('abort', end, { once: true });
  });

/** Looks again until there is something. Throws after the deadline, and when the signal fires. */
export async function eventually<T>(
  look: () => T | undefined | Promise<T | undefined>,
  { signal, deadlineMs = 60_000 }: { signal: AbortSignal; deadlineMs?: number },
): Promise<T> {
  const endsAt = performance.now() + deadlineMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > endsAt) throw new Error(`not within ${deadlineMs / 1_000} s`);
    await pause(LOOK_EVERY_MS, signal);
    signal.throwIfAborted();
  }
}
