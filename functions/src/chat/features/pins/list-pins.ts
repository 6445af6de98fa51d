import type { Conversation, Pin } from '#shared/conversation/documents/conversation.ts';
import { calibratedPinTokens, pinBudget } from '#shared/conversation/pins/pin-budget.ts';
import { findById } from '#shared/uuid.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { pinView, type PinListView } from '#shared/wire/resources/pins.ts';
import type { Config } from '#functions/config.ts';
import { conversationPolicy } from '#functions/config/conversation-policy.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { readOwnConversation } from '#functions/chat/conversations/own-conversation.ts';
import { pinNotFound } from './pin-errors.ts';

interface PinsOf {
  caller: Caller;
  conversationId: string;
}

/** What the pins of a conversation may take together, as its settings are now. */
export const conversationPinBudget = (config: Config, conversation: Conversation) =>
  pinBudget(conversationPolicy(config, conversation), conversation.context);

/** All pins of a conversation, the oldest first, and how full their budget is. Throws NOT_FOUND. */
export async function listPins(
  dependencies: Pick<ChatDependencies, 'store' | 'config'>,
  input: PinsOf,
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
  input: PinsOf & { pinId: string },
): Promise<Pin> {
  const { conversation } = await readOwnConversation(dependencies, input);
  const pin = findById(conversation.value.pins, input.pinId);
  if (!pin) throw pinNotFound(input.conversationId, input.pinId);
  return pin;
}
