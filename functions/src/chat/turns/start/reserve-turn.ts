import { meterCounting, recallTokens } from '#functions/config/conversation-policy.ts';
import { routingInService } from '#functions/models/models-in-use.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { QuotaRequest, Reservation } from '#shared/ports/quota-ports.ts';
import { isRouted } from '#shared/routing/routing.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import { userContent, type SendRequest } from '../send/send-request.ts';
import type { Begin } from './context-before.ts';
import { abandonedDocuments } from './read-start.ts';

/** Which attempt at the turn it is, from 1. */
export const nextAttempt = ({ decision }: Begin): number =>
  'attempt' in decision ? decision.attempt : 1;

/** What the first call of a turn is reserved as. */
export function reservationRequest(
  { config }: Pick<ChatDependencies, 'config'>,
  { caller, conversationId, message }: SendRequest,
  call: { model: string; attempt: number; estimatedTokens: number },
): QuotaRequest {
  const routing = isRouted(call.model) ? routingInService(config) : undefined;
  return {
    caller,
    conversationId,
    messageId: message.id,
    ...call,
    // The model is not chosen yet, and no choice may cost more than what is held.
    ...(routing && { model: routing.strong, isRouted: true }),
  };
}

/** Messages whose turns the batch closes because nobody answers them any more. */
function abandonedMessages({ state, decision }: Begin): string[] {
  const seqs = 'abandoned' in decision ? (decision.abandoned ?? []) : [];
  return abandonedDocuments(state, seqs).map(({ value }) => value.messageId);
}

/**
 * What the prompt will have, before its context is read: what the last one had, the message, and what may be brought
 * back of turns that are folded.
 */
function estimatedPromptTokens(
  { config }: Pick<ChatDependencies, 'config'>,
  { request, state }: Begin,
  conversation: Conversation,
): number {
  const { context, generation } = conversation;
  const userTokens =
    state.known?.value.tokens.user ??
    estimateContentTokens(userContent(request), meterCounting(conversation));
  const recalled = generation > 0 ? recallTokens(config, conversation, { request }) : 0;
  return context.tokens + Math.ceil(context.calibration * userTokens) + recalled;
}

/** What is held for a turn, and as what. */
export interface ReservedTurn {
  reservation: Reservation;
  request: QuotaRequest;
}

/**
 * Holds what the first call of a turn may take of its user's quota, while its context is read. Throws quota reasons,
 * GuardLostError, StoreUnavailableError.
 */
export async function reserveTurn(
  dependencies: Pick<ChatDependencies, 'config' | 'quota'>,
  begin: Begin,
  conversation: Conversation,
): Promise<ReservedTurn> {
  const request: QuotaRequest = {
    ...reservationRequest(dependencies, begin.request, {
      model: conversation.model,
      attempt: nextAttempt(begin),
      estimatedTokens: estimatedPromptTokens(dependencies, begin, conversation),
    }),
    abandoned: abandonedMessages(begin),
    ...(begin.state.known?.value.settled && { isCounted: true }),
  };
  return { reservation: await dependencies.quota.reserve(request), request };
}
