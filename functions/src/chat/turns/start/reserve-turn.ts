import { addAfterwork, type ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { meterCounting, recallTokens } from '#functions/config/conversation-policy.ts';
import { ignoreRejection } from '#functions/lib/promises.ts';
import { routingInService } from '#functions/models/models-in-use.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { QuotaRequest, Reservation } from '#shared/ports/ports.ts';
import { isRouted } from '#shared/models/routing.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import { userContent, type SendRequest } from '../send/send-request.ts';
import type { TurnToBegin } from './begun-turn.ts';
import { turnsToClose } from './read-start.ts';

/**
 * A prompt that is larger than its reservation by more than this is reserved anew, tokens: as much as an answer is
 * taken for.
 */
const RESERVED_ANEW_TOKENS = 500;

/** Which attempt at the turn it is, from 1. */
export const nextAttempt = ({ decision }: TurnToBegin): number =>
  'attempt' in decision ? decision.attempt : 1;

/** The reservation for the first call of a turn. */
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
    // The model is not chosen yet: the stronger one is reserved, so that no choice costs more than what is held.
    ...(routing && { model: routing.strong, isRouted: true }),
  };
}

/** The reservation before the prompt is known: size of the last prompt + message + recall budget. */
function requestBeforePrompt(
  { config }: Pick<ChatDependencies, 'config'>,
  toBegin: TurnToBegin,
  conversation: Conversation,
): QuotaRequest {
  const { request, state, decision } = toBegin;
  const known = state.known?.value;
  const { context, generation, model } = conversation;
  const userTokens =
    known?.tokens.user ?? estimateContentTokens(userContent(request), meterCounting(conversation));
  const recalled = generation > 0 ? recallTokens(config, conversation, { request }) : 0;
  const estimatedTokens = context.tokens + Math.ceil(context.calibration * userTokens) + recalled;
  const closes = 'closes' in decision ? decision.closes : [];
  // The reservations of the messages whose turns the batch closes do not count.
  const abandoned = turnsToClose(state, closes).map(({ value }) => value.messageId);
  const call = { model, attempt: nextAttempt(toBegin), estimatedTokens };
  return {
    ...reservationRequest({ config }, request, call),
    abandoned,
    ...(known?.isCounted && { isCounted: true }),
  };
}

/**
 * What one message holds of its user's quota until its turn begins. A try that lost its guard leaves it to the next
 * one.
 */
export interface HeldQuota {
  /** Begins to reserve what a try needs, unless an earlier try has reserved the same. */
  reserve(toBegin: TurnToBegin, conversation: Conversation): void;
  /**
   * Resolves when it is reserved, enlarged where the prompt is larger than it was estimated. Throws quota reasons,
   * GuardLostError, StoreUnavailableError.
   */
  whenReserved(promptTokens: number): Promise<Reservation>;
  /** The turn has begun: the reservation is the turn's from here on. */
  handOver(): void;
  /** Gives the reservation back, unless it was handed over. Returns at once. */
  giveUp(): void;
}

/** Whether the reservation for one call serves the other: only their numbers of tokens may differ. */
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
    reserve: (toBegin, conversation) => {
      const request = requestBeforePrompt(dependencies, toBegin, conversation);
      if (held && isAlike(held.request, request)) return;
      giveUp();
      held = { request, reserving: ignoreRejection(dependencies.quota.reserve(request)) };
    },
    whenReserved: async (promptTokens) => {
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
