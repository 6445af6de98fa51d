import type { Clock } from '#shared/ports/ports.ts';

/** The machine's clock and timers. */
export const systemClock: Clock = {
  now: () => new Date(),
  wait: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) {
        resolve();
        return;
      }
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener('abort', done, { once: true });
    }),
};
