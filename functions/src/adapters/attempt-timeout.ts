import {
  ABORT_REASON,
  abortedError,
  interruptible,
  isEnd,
} from '#functions/lib/async-iterators.ts';
import { type ModelCall, timeoutError } from './model-errors.ts';

interface WaitLimit {
  timeoutMs: number;
  /** Said by the error. */
  waitedFor: string;
}

/** What keeps one attempt of a call alive: its signal goes to the SDK, its timers bound every wait. */
export interface AttemptTimeout {
  signal: AbortSignal;
  /**
   * The result of `work`. Throws MODEL_TIMEOUT when it takes longer than `timeoutMs` and ABORTED as
   * soon as the caller's signal fires, even if the SDK does not react (while it fetches credentials).
   */
  within<T>(work: Promise<T>, limit: WaitLimit): Promise<T>;
  /** The items of `source`: each is waited for as `within` waits, by one timer for all of them. */
  each<T>(source: AsyncIterator<T>, limit: WaitLimit): Pick<AsyncIterator<T>, 'next'>;
  /** Aborts what still runs. Must be called, or a stream that was left early stays open. */
  release(): void;
}

/** Calls `late` when somebody has waited for `timeoutMs`. The timer looks for itself when it wakes. */
function createPatience(timeoutMs: number, late: () => void) {
  let waitingSinceMs: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    timer = undefined;
    if (waitingSinceMs === undefined) return;
    const leftMs = waitingSinceMs + timeoutMs - performance.now();
    if (leftMs > 0) timer = setTimeout(look, Math.ceil(leftMs));
    else late();
  };
  return {
    begin: () => {
      waitingSinceMs = performance.now();
      timer ??= setTimeout(look, timeoutMs);
    },
    pause: () => void (waitingSinceMs = undefined),
    end: () => clearTimeout(timer),
  };
}

/**
 * Throws ABORTED when the caller's signal has fired already. A source that was read to its end by `each` is not aborted:
 * the SDK would make an exception with a stack trace of it.
 */
export function createAttemptTimeout(call: ModelCall, callerSignal: AbortSignal): AttemptTimeout {
  if (callerSignal.aborted) throw abortedError();
  const controller = new AbortController();
  const abort = () => controller.abort(ABORT_REASON);
  let isOver = false;
  const endings = [() => isOver || abort()];
  const onCallerAbort = (react: () => void) => {
    callerSignal.addEventListener('abort', react);
    endings.push(() => callerSignal.removeEventListener('abort', react));
  };
  onCallerAbort(abort);
  return {
    signal: controller.signal,
    within: (work, { timeoutMs, waitedFor }) =>
      new Promise((resolve, reject) => {
        // Also where `work` never ends: the caller's signal may outlive thousands of attempts.
        const forget = () => {
          clearTimeout(timer);
          callerSignal.removeEventListener('abort', onAbort);
        };
        const onAbort = (): void => {
          forget();
          reject(abortedError());
        };
        const timer = setTimeout(() => {
          forget();
          reject(timeoutError(call, waitedFor, timeoutMs));
          abort();
        }, timeoutMs);
        callerSignal.addEventListener('abort', onAbort);
        if (callerSignal.aborted) onAbort();
        work.then(resolve, reject).finally(forget);
      }),
    each: (source, { timeoutMs, waitedFor }) => {
      const patience = createPatience(timeoutMs, () => {
        items.interrupt(timeoutError(call, waitedFor, timeoutMs));
        abort();
      });
      const items = interruptible(source, (result) => {
        patience.pause();
        isOver = result?.done === true;
        if (isEnd(result)) patience.end();
      });
      endings.push(patience.end);
      onCallerAbort(() => items.interrupt(abortedError()));
      if (callerSignal.aborted) items.interrupt(abortedError());
      return {
        next: () => {
          patience.begin();
          return items.next();
        },
      };
    },
    release: () => endings.forEach((end) => void end()),
  };
}
