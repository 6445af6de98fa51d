import { setTimeout as delay } from 'node:timers/promises';

/** Does something every `ms` until the signal fires. */
export async function every(ms: number, signal: AbortSignal, run: () => Promise<void> | void) {
  while (!signal.aborted) {
    await delay(ms, undefined, { signal }).catch(() => undefined);
    if (!signal.aborted) await run();
  }
}
