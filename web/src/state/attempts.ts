import { signal } from '@preact/signals';
import { RecapError } from '#clients/typescript/src/index.ts';

export const isOffline = (error: Error | undefined): boolean =>
  error instanceof RecapError && error.code === 0;

/** Runs calls, and tells what did not work instead of throwing it; an outage is over with the next answer. */
export function createAttempts() {
  /** undefined: nothing. */
  const problem = signal<Error>();
  async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      const found = await work();
      if (isOffline(problem.value)) problem.value = undefined;
      return found;
    } catch (error) {
      problem.value = error instanceof Error ? error : new Error(String(error));
      return undefined;
    }
  }
  return { problem, attempt };
}
