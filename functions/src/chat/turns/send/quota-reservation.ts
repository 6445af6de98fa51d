import type { QuotaRequest } from '#shared/ports/quota-ports.ts';
import { isRouted } from '#shared/routing/routing.ts';
import type { Config } from '#functions/config.ts';
import { routingInService } from '#functions/models/models-in-use.ts';
import type { SendRequest } from './send-request.ts';

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
