import { setTimeout as wait } from 'node:timers/promises';

export interface SweepSchedule {
  /** Ends the schedule; resolves when nothing is being published any more. */
  stop(): Promise<void>;
}

/** As Cloud Scheduler is deployed. */
export const defaultSweepSeconds = 300;

/**
 * Publishes the sweep event in place of Cloud Scheduler, the first time after `everySeconds`; 0 means
 * never. An event that cannot be published is told to `onFailure` and left out, as there.
 */
export function startSweepSchedule(schedule: {
  everySeconds: number;
  publish: () => Promise<void>;
  onFailure?: (error: unknown) => void;
}): SweepSchedule {
  const { everySeconds, publish, onFailure } = schedule;
  const stopping = new AbortController();
  const { signal } = stopping;

  async function run(): Promise<void> {
    while (!signal.aborted) {
      // The only rejection is that of the signal, which the loop sees itself.
      await wait(everySeconds * 1_000, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        await publish();
      } catch (error) {
        onFailure?.(error);
      }
    }
  }

  const running = everySeconds > 0 ? run() : Promise.resolve();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
