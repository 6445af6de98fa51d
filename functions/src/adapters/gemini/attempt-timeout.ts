import { abortedError, type ModelCall, timeoutError } from './gemini-errors.ts';
import { ABORT_REASON, interruptible } from '#functions/lib/abortable.ts';

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

/** Throws ABORTED when the caller's signal has fired already. */
export function createAttemptTimeout(call: ModelCall, callerSignal: AbortSignal): AttemptTimeout {
  if (callerSignal.aborted) throw abortedError(call);
  const controller = new AbortController();
  let isAtEnd = false;
  const endings = [
    () => {
      if (!isAtEnd) controller.abort(ABORT_REASON);
    },
  ];
  const release = () => endings.splice(0).forEach((end) => end());
  const onCallerAbort = (react: () => void) => {
    callerSignal.addEventListener('abort', react);
    endings.push(() => callerSignal.removeEventListener('abort', react));
  };
  onCallerAbort(() => controller.abort(ABORT_REASON));
  return {
    signal: controller.signal,
    within: (work, { timeoutMs, waitedFor }) =>
      new Promise((resolve, reject) => {
        const onAbort = (): void => reject(abortedError(call));
        const timer = setTimeout(() => {
          reject(timeoutError(call, waitedFor, timeoutMs));
          controller.abort(ABORT_REASON);
        }, timeoutMs);
        callerSignal.addEventListener('abort', onAbort);
        if (callerSignal.aborted) onAbort();
        work.then(resolve, reject).finally(() => {
          clearTimeout(timer);
          callerSignal.removeEventListener('abort', onAbort);
        });
      }),
    each: (source, { timeoutMs, waitedFor }) => {
      const patience = createPatience(timeoutMs, () => {
        items.interrupt(timeoutError(call, waitedFor, timeoutMs));
        controller.abort(ABORT_REASON);
      });
      const items = interruptible(source, patience.end);
      endings.push(patience.end);
      onCallerAbort(() => items.interrupt(abortedError(call)));
      if (callerSignal.aborted) items.interrupt(abortedError(call));
      return {
        next: async () => {
          patience.begin();
          const result = await items.next();
          patience.pause();
          // Then nothing runs any more, and of an abort the SDK makes an exception with a stack trace.
          isAtEnd ||= result.done === true;
          return result;
        },
      };
    },
    release,
  };
}
