import { abortedError, type ModelCall, timeoutError } from './gemini-errors.ts';
import { CALLED_OFF } from '../called-off.ts';

/** What keeps one attempt of a call alive: its signal goes to the SDK, its timers bound every wait. */
export interface Lifeline {
  signal: AbortSignal;
  /**
   * The result of `work`. Throws MODEL_TIMEOUT when it takes longer than `timeoutMs` and ABORTED as
   * soon as the caller's signal fires, even if the SDK does not react (while it fetches credentials).
   */
  within<T>(work: Promise<T>, limit: { timeoutMs: number; waitedFor: string }): Promise<T>;
  /** Aborts what still runs. Must be called, or a stream that was left early stays open. */
  release(): void;
}

/** Throws ABORTED when the caller's signal has fired already. */
export function createLifeline(call: ModelCall, callerSignal: AbortSignal): Lifeline {
  if (callerSignal.aborted) throw abortedError(call);
  const controller = new AbortController();
  const abort = (): void => controller.abort(CALLED_OFF);
  callerSignal.addEventListener('abort', abort);
  return {
    signal: controller.signal,
    within: (work, { timeoutMs, waitedFor }) =>
      new Promise((resolve, reject) => {
        const onAbort = (): void => reject(abortedError(call));
        const timer = setTimeout(() => {
          reject(timeoutError(call, waitedFor, timeoutMs));
          controller.abort(CALLED_OFF);
        }, timeoutMs);
        callerSignal.addEventListener('abort', onAbort);
        if (callerSignal.aborted) onAbort();
        work.then(resolve, reject).finally(() => {
          clearTimeout(timer);
          callerSignal.removeEventListener('abort', onAbort);
        });
      }),
    release: () => {
      callerSignal.removeEventListener('abort', abort);
      controller.abort(CALLED_OFF);
    },
  };
}
