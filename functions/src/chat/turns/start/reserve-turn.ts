import { addAfterwork, type ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { meterCounting, recallTokens } from '#functions/config/conversation-policy.ts';
import { ignoreRejection } from '#functions/lib/promises.ts';
import { routingInService } from '#functions/models/models-in-use.ts';
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

/** What the first call of a turn is reserved as while its prompt is not known. */
const firstRequest = (
  dependencies: Pick<ChatDependencies, 'config'>,
  begin: Begin,
  conversation: Conversation,
): QuotaRequest => ({
  ...reservationRequest(dependencies, begin.request, {
    model: conversation.model,
    attempt: nextAttempt(begin),
    estimatedTokens: estimatedPromptTokens(dependencies, begin, conversation),
  }),
  abandoned: abandonedMessages(begin),
  ...(begin.state.known?.value.settled && { isCounted: true }),
});

/** A prompt that is larger by this than was reserved for it is reserved anew, tokens: as much as an answer is taken for. */
const RESERVED_ANEW_TOKENS = 500;

/** What one message holds of its user's quota until its turn begins. Tries that lose to others leave it to the next one. */
export interface HeldQuota {
  /** Begins to reserve what a try needs, unless one before it has reserved the same. */
  begin(begin: Begin, conversation: Conversation): void;
  /** What is reserved, once the prompt is known. Throws quota reasons, GuardLostError, StoreUnavailableError. */
  reserved(promptTokens: number): Promise<Reservation>;
  /** The turn has begun: from here on it holds that. */
  handOver(): void;
  /** Gives back what no turn has begun with. Nobody waits for that. */
  giveUp(): void;
}

interface Held {
  request: QuotaRequest;
  reserving: Promise<Reservation>;
}

/** Whether a reservation for one call serves the other: how many tokens they have may differ. */
const isAlike = (one: QuotaRequest, other: QuotaRequest): boolean =>
  JSON.stringify({ ...one, estimatedTokens: 0 }) ===
  JSON.stringify({ ...other, estimatedTokens: 0 });

export function holdQuota(
  dependencies: Pick<ChatDependencies, 'config' | 'quota' | 'afterwork'>,
): HeldQuota {
  let held: Held | undefined;
  const giveUp = () => {
    const released = held?.reserving.then(
      (reservation) => reservation.release(),
      () => undefined,
    );
    held = undefined;
    if (released) addAfterwork(dependencies, released);
  };
  return {
    begin: (begin, conversation) => {
      const request = firstRequest(dependencies, begin, conversation);
      if (held && isAlike(held.request, request)) return;
      giveUp();
      held = { request, reserving: ignoreRejection(dependencies.quota.reserve(request)) };
    },
    reserved: async (promptTokens) => {
      if (!held) throw new Error('nothing is being reserved');
      const { request, reserving } = held;
      const reservation = await reserving.catch((error: unknown) => {
        held = undefined;
        throw error;
      });
      if (promptTokens > request.estimatedTokens + RESERVED_ANEW_TOKENS) {
        const larger = { ...request, estimatedTokens: promptTokens };
        await reservation.renew({ ...larger, taken: undefined });
        held = { request: larger, reserving };
      }
      return reservation;
    },
    handOver: () => {
      held = undefined;
    },
    giveUp,
  };
}
