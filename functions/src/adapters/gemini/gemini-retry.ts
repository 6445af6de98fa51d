import { setTimeout as delay } from 'node:timers/promises';
import type { AppError } from '#shared/errors.ts';
import { abortedError, type ModelCall } from './gemini-errors.ts';

/** Retries after the first attempt. */
const mostRetries = 2;
/** Without RetryInfo: full jitter below 0.25 s, 0.5 s, … and never above 4 s. */
const firstDelayMs = 250;
const longestDelayMs = 4_000;
/** A longer RetryInfo is the caller's to wait for: a user or a lease would not. */
const longestRetryInfoMs = 10_000;

/**
 * How long to wait before the next attempt, in milliseconds; undefined: not again. Only quota and
 * overload are tried again; a timeout has used its time, a refusal stays one.
 */
export function retryDelayMs(
  failure: AppError,
  attempt: number,
  random: number,
): number | undefined {
  if (attempt >= mostRetries) return undefined;
  const backoffMs = random * Math.min(longestDelayMs, firstDelayMs * 2 ** attempt);
  if (failure.reason === 'MODEL_OVERLOADED') return backoffMs;
  if (failure.reason !== 'MODEL_QUOTA') return undefined;
  // A little later than asked: everybody who was refused at once was asked for the same moment.
  const delayMs = (failure.retryAfterMs ?? 0) + backoffMs;
  return (failure.retryAfterMs ?? 0) > longestRetryInfoMs ? undefined : delayMs;
}

/** Waits for the next attempt. Throws `failure` when there is to be none, ABORTED when the signal fires. */
export async function waitForRetry(options: {
  call: ModelCall;
  failure: AppError;
  attempt: number;
  signal: AbortSignal;
}): Promise<void> {
  const { call, failure, attempt, signal } = options;
  const delayMs = retryDelayMs(failure, attempt, Math.random());
  if (delayMs === undefined) throw failure;
  try {
    await delay(delayMs, undefined, { signal });
  } catch {
    throw abortedError(call);
  }
}
