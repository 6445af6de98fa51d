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
export function startSweepSchedule({
  everySeconds,
  publish,
  onFailure = () => undefined,
}: {
  everySeconds: number;
  publish: () => Promise<void>;
  onFailure?: (error: unknown) => void;
}): SweepSchedule {
  if (everySeconds === 0) return { stop: () => Promise.resolve() };
  let publishing: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    publishing = publishing.then(publish).catch(onFailure);
  }, everySeconds * 1_000);
  return {
    async stop() {
      clearInterval(timer);
      await publishing;
    },
  };
}
