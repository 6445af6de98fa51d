import type { EventEmitter } from 'node:events';

const longestTimerMs = 2 ** 31 - 1;

/** Resolves after `ms`, at the emitter's `drain`, or when the signal fires; never rejects. */
export function wait(ms: number, signal: AbortSignal, drains?: EventEmitter): Promise<void> {
  if (signal.aborted || ms <= 0) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(done, Math.min(ms, longestTimerMs));
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      drains?.off('drain', done);
      resolve();
    }
    signal.addEventListener('abort', done);
    drains?.once('drain', done);
  });
}
