import { noQuota } from '#test/fakes/no-quota.ts';
import { AppError } from '#shared/errors.ts';

/** A quota that refuses as many reservations as `refusals` has, one after the other; when it was asked, ms. */
export function refusingQuota(refusals: AppError[]) {
  const askedAtMs: number[] = [];
  const quota: typeof noQuota = {
    ...noQuota,
    reserve: (request) => {
      askedAtMs.push(performance.now());
      const refusal = refusals.shift();
      return refusal ? Promise.reject(refusal) : noQuota.reserve(request);
    },
  };
  return { quota, askedAtMs };
}

const spent = (reason: string, retryAfterMs: number) =>
  new AppError({
    status: 'RESOURCE_EXHAUSTED',
    reason,
    message: 'quota of a test',
    publicMessage: 'Too many messages.',
    retryable: true,
    retryAfterMs,
  });

/** The messages of this minute are used up. */
export const minuteSpent = (retryAfterMs: number) => spent('USER_RPM', retryAfterMs);

/** The tokens of today are used up: the next come in six hours. */
export const daySpent = () => spent('USER_DAILY_TOKENS', 6 * 3_600_000);
