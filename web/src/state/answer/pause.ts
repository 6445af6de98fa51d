/** Resolves after the time, or when the signal ends the wait. */
export function pause(delayMs: number, ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, delayMs);
    const end = (): void => {
      clearTimeout(timer);
      resolve();
    };
    if (ended.aborted) end();
    else ended.addEventListener('abort', end, { once: true });
  });
}
