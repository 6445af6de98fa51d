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
