const LOOK_EVERY_MS = 100;
const DEFAULT_DEADLINE_MS = 60_000;

/** Resolves after the time. Throws the signal's reason when that fires first. */
export function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, delayMs);
    signal.addEventListener('abort', stop, { once: true });
  });
}

/** Looks again until there is something. Throws after the deadline, and when the signal fires. */
export async function eventually<T>(
  look: () => T | undefined | Promise<T | undefined>,
  {
    signal,
    deadlineMs = DEFAULT_DEADLINE_MS,
  }: { signal: AbortSignal; deadlineMs?: number | undefined },
): Promise<T> {
  const endsAt = performance.now() + deadlineMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > endsAt) throw new Error(`not within ${deadlineMs / 1_000} s`);
    await pause(LOOK_EVERY_MS, signal);
  }
}
