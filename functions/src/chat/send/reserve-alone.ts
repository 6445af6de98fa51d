import { GuardLostError } from '../../../../shared/errors.ts';
import type { QuotaRequest, Reservation } from '../../../../shared/quota-ports.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';

/** How often a reservation is asked for anew when other messages of the user win its guard. */
const RESERVE_TRIES = 30;
const RETRY_MS = 10;
const RETRY_MAX_MS = 100;

/**
 * Reserves quota for a call that stores nothing else. Throws quota reasons, StoreUnavailableError, and
 * GuardLostError where others always come first.
 */
export async function reserveAlone(
  { quota, store, clock }: Pick<ChatDependencies, 'quota' | 'store' | 'clock'>,
  request: QuotaRequest,
): Promise<Reservation | undefined> {
  for (let tries = 1; ; tries++) {
    const reservation = await quota.reserve(request);
    const writes = reservation?.writes ?? [];
    try {
      if (writes.length > 0) await store.commit(writes);
      return reservation;
    } catch (error) {
      if (!(error instanceof GuardLostError) || tries === RESERVE_TRIES) throw error;
    }
    await clock.wait(Math.min(RETRY_MAX_MS, RETRY_MS * tries));
  }
}
