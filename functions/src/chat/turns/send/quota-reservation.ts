import type { QuotaRequest, Reservation } from '#shared/ports/quota-ports.ts';
import { isRouted } from '#shared/routing/routing.ts';
import type { Config } from '#functions/config.ts';
import { routingInService } from '#functions/models/models-in-use.ts';
import type { SendRequest } from './send-request.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { retryWhenLost } from '#functions/lib/retry.ts';

/** What the first call is reserved as: the model is not chosen yet, and no choice may cost more than what is held. */
function reservedModel(config: Config, model: string): string {
  const routing = routingInService(config);
  return isRouted(model) && routing ? routing.strong : model;
}

/** What the calls of a turn are reserved as. */
export const quotaReservationRequest = (
  config: Config,
  { caller, conversationId, message }: SendRequest,
  { model, attempt }: { model: string; attempt: number },
): Pick<QuotaRequest, 'caller' | 'conversationId' | 'messageId' | 'attempt' | 'model'> => ({
  caller,
  conversationId,
  messageId: message.id,
  attempt,
  model: reservedModel(config, model),
});

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
