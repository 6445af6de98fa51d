import type { Clock } from '#shared/ports/ports.ts';
import { ABORT_REASON } from './async-iterators.ts';
import { unlessAborted } from './promises.ts';

type Timers = Pick<Clock, 'wait'>;

/** A signal that fires after `ms`, with what `reason` gives (default: an AbortError); `stop` ends the timer. */
export function timeoutAfter({ clock }: { clock: Timers }, ms: number, reason?: () => unknown) {
  const timeout = new AbortController();
  const stopped = new AbortController();
  void clock.wait(ms, stopped.signal).then(() => {
    if (!stopped.signal.aborted) timeout.abort(reason?.());
  });
  return { signal: timeout.signal, stop: () => stopped.abort(ABORT_REASON) };
}

/** Whether `work` resolves within `ms`. Throws what it rejects with by then; a later rejection is dropped. */
export async function settlesWithin(
  clock: Timers,
  ms: number,
  work: Promise<unknown>,
): Promise<boolean> {
  const timer = new AbortController();
  const late = clock.wait(ms, timer.signal).then(() => false);
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    timer.abort(ABORT_REASON);
  }
}

/**
 * Runs `work` with a signal that fires when `signal` does or after `ms`, and rejects then even if the
 * work does not listen. The timer is gone when this returns.
 */
export async function withDeadline<T>(
  limit: { clock: Timers; ms: number; signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const isLate = () => new DOMException(`took longer than ${limit.ms} ms`, 'TimeoutError');
  const timeout = timeoutAfter(limit, limit.ms, isLate);
  const signal = AbortSignal.any([limit.signal, timeout.signal]);
  try {
    return await unlessAborted(signal, () => work(signal));
  } finally {
    timeout.stop();
  }
}

/** The time for a call was up. Whether the call took effect is not known. */
export class DeadlineError extends Error {
  constructor(options: { operation: string; deadlineMs: number }) {
    super(`${options.operation} took longer than ${options.deadlineMs} ms`);
    this.name = 'DeadlineError';
  }
}

/**
 * The result of `call`, or DeadlineError after `deadlineMs`. The call itself goes on in the background (the
 * Google clients cannot be aborted; their network attempts end at the same time), its late result and
 * its late error are dropped.
 */
export async function abandonAfter<Result>(
  call: () => Promise<Result>,
  limit: { operation: string; deadlineMs: number },
): Promise<Result> {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new DeadlineError(limit));
  }, limit.deadlineMs);
  try {
    return await Promise.race([call(), expired]);
  } finally {
    clearTimeout(timer);
  }
}
