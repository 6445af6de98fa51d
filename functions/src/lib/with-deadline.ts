import type { Clock } from '#shared/ports/ports.ts';
import { ABORT_REASON } from './abort-reason.ts';

/**
 * Runs `work` with a signal that fires when `signal` does or after `ms`, and rejects then even if the
 * work does not listen. The timer is gone when this returns.
 */
export async function withDeadline<T>(
  limit: { clock: Clock; ms: number; signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const settled = new AbortController();
  const signal = AbortSignal.any([limit.signal, controller.signal]);
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => {
    reject(signal.reason);
  };
  // A rejection that nobody waits for any more must not end the process.
  aborted.catch(() => undefined);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  const timer = limit.clock.wait(limit.ms, settled.signal).then(() => {
    if (!settled.signal.aborted)
      controller.abort(new DOMException(`took longer than ${limit.ms} ms`, 'TimeoutError'));
    return undefined;
  });
  try {
    return await Promise.race([work(signal), aborted]);
  } finally {
    settled.abort(ABORT_REASON);
    signal.removeEventListener('abort', onAbort);
    await timer;
  }
}
