import type { QuotaRequest, Reservation } from '#shared/ports/quota-ports.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { retryWhenLost } from '#functions/lib/retry.ts';

/**
 * Reserves quota for a call that stores nothing else. Throws quota reasons, StoreUnavailableError, and
 * GuardLostError where others always come first.
 */
export async function reserveAlone(
  { quota, store, clock }: Pick<ChatDependencies, 'quota' | 'store' | 'clock'>,
  request: QuotaRequest,
): Promise<Reservation | undefined> {
  return retryWhenLost(clock, async () => {
    const reservation = await quota.reserve(request);
    const writes = reservation?.writes ?? [];
    if (writes.length > 0) await store.commit(writes);
    return reservation;
  });
}
