import type { Pin } from '#shared/conversation/documents/conversation.ts';
import { decidePin, withDeletedPin } from '#shared/conversation/pins/pins.ts';
import { findById, toLowerUuid } from '#shared/uuid.ts';
import type { Caller } from '#shared/ports/ports.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { changeConversation } from '#functions/chat/conversations/change-conversation.ts';
import { conversationPinBudget } from './list-pins.ts';
import { pinDeleted, pinsTooLarge, tooManyPins } from './pin-errors.ts';

type PinDependencies = Pick<ChatDependencies, 'store' | 'clock' | 'config'>;

interface PinOf {
  caller: Caller;
  conversationId: string;
  pinId: string;
}

/**
 * Puts a pin under an id of the caller's choice, in the place of the one that has it. The same again
 * changes nothing; an id whose pin was deleted is not taken again. Throws NOT_FOUND, PIN_BUDGET, IDEMPOTENCY_KEY_REUSED.
 */
export const putPin = (
  dependencies: PinDependencies,
  request: PinOf & { text: string },
): Promise<{ pin: Pin; isNew: boolean }> =>
  keepPin(dependencies, request, () => ({ text: request.text, source: 'api' }));

/**
 * The same for whoever it comes from, and of which turn. `prepare` is asked behind the read of the conversation that the
 * write is guarded by, again whenever somebody else came first: what it reads still stands when the pin is stored. Throws as
 * `putPin`, and what `prepare` throws.
 */
export function keepPin(
  dependencies: PinDependencies,
  request: PinOf,
  prepare: () => Omit<Pin, 'id'> | Promise<Omit<Pin, 'id'>>,
): Promise<{ pin: Pin; isNew: boolean }> {
  const { conversationId, pinId } = request;
  return changeConversation<{ pin: Pin; isNew: boolean }>(
    dependencies,
    request,
    async ({ conversation }) => {
      const { pins, deletedPins = [] } = conversation.value;
      const id = toLowerUuid(pinId);
      if (deletedPins.includes(id)) throw pinDeleted(pinId);
      const pin: Pin = { id, ...(await prepare()) };
      const budget = conversationPinBudget(dependencies.config, conversation.value);
      const decision = decidePin(pins, pin, budget);
      switch (decision.kind) {
        case 'tooMany':
          throw tooManyPins(conversationId);
        case 'overBudget':
          throw pinsTooLarge(conversationId, { ...decision, ...budget });
        case 'unchanged':
          return { result: { pin: decision.pin, isNew: false } };
        case 'put': {
          const fields = { pins: decision.pins, updateTime: dependencies.clock.now() };
          return { fields, result: { pin, isNew: decision.isNew } };
        }
      }
    },
  );
}

/** Takes a pin away; one that is not there is gone already. Throws NOT_FOUND. */
export function deletePin(dependencies: PinDependencies, request: PinOf): Promise<void> {
  return changeConversation<void>(dependencies, request, ({ conversation }) => {
    const { pins } = conversation.value;
    const gone = findById(pins, request.pinId);
    if (!gone) return { result: undefined };
    const left = pins.filter((pin) => pin !== gone);
    const deletedPins = withDeletedPin(conversation.value.deletedPins, gone.id);
    const updateTime = dependencies.clock.now();
    return { fields: { pins: left, deletedPins, updateTime }, result: undefined };
  });
}
