import { ApiError } from '#web/api/api-error.ts';
import { signal } from '@preact/signals';

const asApiError = (error: unknown): ApiError =>
  error instanceof ApiError
    ? error
    : new ApiError({ code: -1, reason: 'UNKNOWN', message: String(error), cause: error });

/** Calls until the page leaves: a problem is told, and an outage is over with the next answer. */
export function createAttempts() {
  const leaving = new AbortController();
  const left = leaving.signal;
  /** What did not work; undefined: nothing. */
  const problem = signal<ApiError>();
  /** An answer came: an outage is over. */
  const recover = (): void => {
    if (problem.value?.code === 0) problem.value = undefined;
  };
  const fail = (error: unknown): void => {
    if (!left.aborted) problem.value = asApiError(error);
  };
  /** Runs a call, and shows its problem instead of throwing. */
  async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      const found = await work();
      recover();
      return found;
    } catch (error) {
      fail(error);
      return undefined;
    }
  }
  return { problem, attempt, recover, fail, left, leave: () => leaving.abort() };
}
