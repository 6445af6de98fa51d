import { noQuota } from '#test/fakes/no-quota.ts';
import { AppError } from '#shared/errors.ts';

/** What a user is told whose messages of the day are spent. */
const noMessagesLeft = (retryAfterMs: number) =>
  new AppError({
    status: 'RESOURCE_EXHAUSTED',
    reason: 'USER_DAILY_MESSAGES',
    message: 'quota of a test',
    publicMessage: 'No messages are left for today.',
    retryable: true,
    retryAfterMs,
  });

/** A quota that refuses the messages of the conversations it was told, and no others. */
export function createSpentQuota() {
  const waits = new Map<string, number>();
  const quota: typeof noQuota = {
    ...noQuota,
    reserve: (request) => {
      const waitMs = waits.get(request.conversationId);
      return waitMs === undefined
        ? noQuota.reserve(request)
        : Promise.reject(noMessagesLeft(waitMs));
    },
  };
  return {
    quota,
    /** From now on; the refusal says that the quota is back after `waitMs`. */
    spend: (conversationId: string, waitMs: number) => void waits.set(conversationId, waitMs),
  };
}
