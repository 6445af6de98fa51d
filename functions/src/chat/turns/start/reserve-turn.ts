import { addAfterwork, type ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { meterCounting, recallTokens } from '#functions/config/conversation-policy.ts';
import { ignoreRejection } from '#functions/lib/promises.ts';
import { routingInService } from '#functions/models/models-in-use.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { QuotaRequest, Reservation } from '#shared/ports/ports.ts';
import { isRouted } from '#shared/models/routing.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import { userContent, type SendRequest } from '../send/send-request.ts';
import type { Begin } from './begun-turn.ts';
import { abandonedDocuments } from './read-start.ts';

/** A prompt that is larger by this than was reserved for it is reserved anew, tokens: as much as an answer is taken for. */
const RESERVED_ANEW_TOKENS = 500;

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

/**
 * The same while its prompt is not known: it is estimated at what the last one had, the message, and what may be brought
 * back of turns that are folded.
 */
function firstRequest(
  { config }: Pick<ChatDependencies, 'config'>,
  begin: Begin,
  conversation: Conversation,
): QuotaRequest {
  const { request, state, decision } = begin;
  const known = state.known?.value;
  const { context, generation, model } = conversation;
  const userTokens =
    known?.tokens.user ?? estimateContentTokens(userContent(request), meterCounting(conversation));
  const recalled = generation > 0 ? recallTokens(config, conversation, { request }) : 0;
  const estimatedTokens = context.tokens + Math.ceil(context.calibration * userTokens) + recalled;
  // Messages whose turns the batch closes because nobody answers them any more.
  const abandonedSeqs = 'abandoned' in decision ? (decision.abandoned ?? []) : [];
  const abandoned = abandonedDocuments(state, abandonedSeqs).map(({ value }) => value.messageId);
  const call = { model, attempt: nextAttempt(begin), estimatedTokens };
  return {
    ...reservationRequest({ config }, request, call),
    abandoned,
    ...(known?.settled && { isCounted: true }),
  };
}

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

/** Whether a reservation for one call serves the other: how many tokens they have may differ. */
const isAlike = (one: QuotaRequest, other: QuotaRequest): boolean =>
  JSON.stringify({ ...one, estimatedTokens: 0 }) ===
  JSON.stringify({ ...other, estimatedTokens: 0 });

export function holdQuota(
  dependencies: Pick<ChatDependencies, 'config' | 'quota' | 'afterwork'>,
): HeldQuota {
  let held: { request: QuotaRequest; reserving: Promise<Reservation> } | undefined;
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
