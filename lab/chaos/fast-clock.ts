import type { Clock } from '#shared/ports/ports.ts';

/**
 * A clock that has run `timeScale` times as fast as `time` since `startedAtMs` (Unix time): leases, back-offs and
 * the sweep keep the lengths that they have in production, and a run of minutes meets hours of them. All
 * processes of a run are given the same start, so that they agree on the time.
 */
export function fastClock(time: Clock, input: { startedAtMs: number; timeScale: number }): Clock {
  const { startedAtMs, timeScale } = input;
  return {
    now: () => {
      const sinceStartMs = time.now().getTime() - startedAtMs;
      return new Date(startedAtMs + sinceStartMs * timeScale);
    },
    wait: (ms, signal) => time.wait(ms / timeScale, signal),
  };
}
