import { PINS_MAX } from '#shared/conversation/pins/pin-budget.ts';
import type { PinDecision } from '#shared/conversation/pins/pins.ts';
import { AppError } from '#shared/errors.ts';

/** 400: one pin more than there may be. */
export const tooManyPins = (conversationId: string) =>
  new AppError({
    status: 'FAILED_PRECONDITION',
    reason: 'PIN_BUDGET',
    message: `${conversationId} has ${PINS_MAX} pins`,
    publicMessage: `A conversation may have ${PINS_MAX} pins. Delete one that is no longer needed, or put two into one.`,
    metadata: { pinsMax: String(PINS_MAX) },
  });

/** 400: the pin does not fit beside the others. */
export function pinsTooLarge(
  conversationId: string,
  {
    budgetTokens,
    neededTokens,
    remainingTokens,
  }: Omit<Extract<PinDecision, { kind: 'overBudget' }>, 'kind'> & { budgetTokens: number },
) {
  const budget = `All pins together may take ${budgetTokens} tokens`;
  return new AppError({
    status: 'FAILED_PRECONDITION',
    reason: 'PIN_BUDGET',
    message: `a pin of ${neededTokens} tokens for ${conversationId}, with ${remainingTokens} of ${budgetTokens} left`,
    publicMessage: `${budget}: ${remainingTokens} are left, and this one takes about ${neededTokens}. Shorten it, or delete another pin.`,
    metadata: {
      budgetTokens: String(budgetTokens),
      neededTokens: String(neededTokens),
      remainingTokens: String(remainingTokens),
    },
  });
}

/** 404: no such pin. */
export const pinNotFound = (conversationId: string, pinId: string) =>
  new AppError({
    status: 'NOT_FOUND',
    reason: 'PIN_NOT_FOUND',
    message: `no pin ${pinId} in ${conversationId}`,
    publicMessage: 'The conversation has no such pin. Check its id in the list of pins.',
    metadata: { pinId },
  });

/** 409: the id had a pin. */
export const pinDeleted = (pinId: string) =>
  new AppError({
    status: 'ALREADY_EXISTS',
    reason: 'IDEMPOTENCY_KEY_REUSED',
    message: 'the pin of this id was deleted',
    publicMessage: 'The pin with this id was deleted. Choose a new id to pin it again.',
    metadata: { pinId },
  });
