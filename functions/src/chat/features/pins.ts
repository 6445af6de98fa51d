import {
  PINS_MAX,
  calibratedPinTokens,
  pinBudget,
  type PinDecision,
  decidePin,
  withDeletedPin,
} from '#shared/conversation/context/pins.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import {
  readOwnConversation,
  changeConversation,
  type ConversationTarget,
} from '../conversations/own-conversation.ts';
import type { Config } from '#functions/config.ts';
import { conversationPolicy } from '#functions/config/conversation-policy.ts';
import type { Conversation, Pin } from '#shared/conversation/documents/conversation.ts';
import { AppError } from '#shared/lib/errors.ts';
import { findById, toLowerUuid } from '#shared/lib/uuid.ts';
import { pinView, type PinListView } from '#shared/wire/resources/pins.ts';

/** 400: one pin more than there may be. */
const tooManyPins = () =>
  new AppError({
    reason: 'PIN_BUDGET',
    publicMessage: `A conversation may have ${PINS_MAX} pins. Delete one that is no longer needed, or put two into one.`,
    metadata: { pinsMax: String(PINS_MAX) },
  });

/** 400: the pin does not fit beside the others. */
function pinsTooLarge({
  budgetTokens,
  neededTokens,
  remainingTokens,
}: Omit<Extract<PinDecision, { kind: 'overBudget' }>, 'kind'> & { budgetTokens: number }) {
  const budget = `All pins together may take ${budgetTokens} tokens`;
  return new AppError({
    reason: 'PIN_BUDGET',
    publicMessage: `${budget}: ${remainingTokens} are left, and this one takes about ${neededTokens}. Shorten it, or delete another pin.`,
    metadata: {
      budgetTokens: String(budgetTokens),
      neededTokens: String(neededTokens),
      remainingTokens: String(remainingTokens),
    },
  });
}

/** 404: no such pin. */
const pinNotFound = (pinId: string) =>
  new AppError({
    reason: 'PIN_NOT_FOUND',
    publicMessage: 'The conversation has no such pin. Check its id in the list of pins.',
    metadata: { pinId },
  });

/** 409: the id had a pin. */
const pinDeleted = (pinId: string) =>
  new AppError({
    reason: 'IDEMPOTENCY_KEY_REUSED',
    publicMessage: 'The pin with this id was deleted. Choose a new id to pin it again.',
    metadata: { pinId },
  });

/** What the pins of a conversation may take together, as its settings are now. */
const conversationPinBudget = (config: Config, conversation: Conversation) =>
  pinBudget(conversationPolicy(config, conversation), conversation.context);

/** All pins of a conversation, the oldest first, and how full their budget is. Throws NOT_FOUND. */
export async function listPins(
  dependencies: Pick<ChatDependencies, 'store' | 'config'>,
  input: ConversationTarget,
): Promise<PinListView> {
  const { conversation } = await readOwnConversation(dependencies, input);
  const { pins } = conversation.value;
  const budget = conversationPinBudget(dependencies.config, conversation.value);
  return {
    pins: pins.map(pinView),
    tokens: calibratedPinTokens(pins, budget),
    budgetTokens: budget.budgetTokens,
  };
}

/** One pin. Throws NOT_FOUND, PIN_NOT_FOUND. */
export async function readPin(
  dependencies: Pick<ChatDependencies, 'store'>,
  input: ConversationTarget & { pinId: string },
): Promise<Pin> {
  const { conversation } = await readOwnConversation(dependencies, input);
  const pin = findById(conversation.value.pins, input.pinId);
  if (!pin) throw pinNotFound(input.pinId);
  return pin;
}

type PinDependencies = Pick<ChatDependencies, 'store' | 'clock' | 'config'>;

interface PinOf extends ConversationTarget {
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
  const { pinId } = request;
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
          throw tooManyPins();
        case 'overBudget':
          throw pinsTooLarge({ ...decision, ...budget });
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
