import type { StartDecision } from '#shared/conversation/decisions/start-decision.ts';
import { inBinError, messageNotFoundError, notFoundError } from '#functions/chat/not-found.ts';
import type { StartState } from './read-start.ts';
import { toTurnError } from '../stream/turn-failure.ts';
import {
  busyError,
  editTooFarBackError,
  keyReusedError,
  messageReplacedError,
  notLastAnswerError,
  notUserMessageError,
  queueFullError,
} from '../send/send-errors.ts';
import type { SendRequest } from '../send/send-request.ts';

type Refusal = Extract<
  StartDecision,
  {
    kind:
      | 'notFound'
      | 'keyReused'
      | 'busy'
      | 'queueFull'
      | 'retryLater'
      | 'targetNotFound'
      | 'notUserMessage'
      | 'notLastAnswer'
      | 'messageReplaced'
      | 'tooFarBack';
  }
>;

/** The stored failure again, with what is left of the time to wait. */
function notYetError(
  { known }: StartState,
  { seq, retryAfterMs }: { seq: number; retryAfterMs: number },
): Error {
  const error = known?.value.error && { ...known.value.error, retryAfterMs };
  return toTurnError({ seq, error }) ?? new Error(`turn ${seq} has no error to repeat`);
}

const isInOwnBin = ({ conversation, facts }: StartState) =>
  conversation?.value.state === 'deleted' && conversation.value.ownerUid === facts.uid;

/** The error that tells the caller why nothing was started. */
export function toRefusal(request: SendRequest, decision: Refusal, state: StartState): Error {
  const { conversationId, message, replacing } = request;
  const messageId = replacing?.messageId ?? '';
  switch (decision.kind) {
    case 'notFound':
      return isInOwnBin(state) ? inBinError(conversationId) : notFoundError(conversationId);
    case 'keyReused':
      return keyReusedError(conversationId, message.id);
    case 'busy':
      return busyError(conversationId, decision);
    case 'queueFull':
      return queueFullError(conversationId, decision);
    case 'retryLater':
      return notYetError(state, decision);
    case 'targetNotFound':
      return messageNotFoundError(conversationId, messageId);
    case 'notUserMessage':
      return notUserMessageError(conversationId, messageId);
    case 'notLastAnswer':
      return notLastAnswerError(conversationId, { messageId, ...decision });
    case 'messageReplaced':
      return messageReplacedError(conversationId, messageId);
    case 'tooFarBack':
      return editTooFarBackError(conversationId, { messageId, ...decision });
  }
}
