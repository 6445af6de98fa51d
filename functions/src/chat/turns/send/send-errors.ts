import {
  type StartDecision,
  QUEUE_MAX,
  REPLACED_MAX,
} from '#shared/conversation/start-decision.ts';
import { inBinError, messageNotFoundError, notFoundError } from '#functions/chat/not-found.ts';
import { turnId } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { StartState } from '../start/read-start.ts';
import { busyError, messageReplacedError, toTurnError } from '../turn-errors.ts';
import type { SendRequest } from './send-request.ts';

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

/** The error that tells the caller why nothing was started. */
export function toRefusal(request: SendRequest, decision: Refusal, state: StartState): Error {
  const messageId = request.replacing?.messageId ?? '';
  switch (decision.kind) {
    case 'notFound': {
      const conversation = state.conversation?.value;
      const isInOwnBin =
        conversation?.state === 'deleted' && conversation.ownerUid === state.facts.uid;
      return isInOwnBin ? inBinError() : notFoundError();
    }
    case 'keyReused':
      return new AppError({
        reason: 'IDEMPOTENCY_KEY_REUSED',
        publicMessage:
          'message.id was already used for another message of this conversation. Draw a new id for a new message.',
        metadata: { field: 'message.id' },
      });
    case 'busy':
      return busyError(decision);
    case 'queueFull':
      return new AppError({
        reason: 'TURN_IN_PROGRESS',
        publicMessage: `${QUEUE_MAX} messages of this conversation wait for their answers already, and no more may. Wait for some of them, then send this one again.`,
        retryAfterMs: decision.retryAfterMs,
        metadata: { turnId: turnId(decision.seq), queueMax: String(QUEUE_MAX) },
      });
    case 'retryLater':
      return notYetError(state, decision);
    case 'targetNotFound':
      return messageNotFoundError(messageId);
    case 'notUserMessage':
      return new AppError({
        reason: 'NOT_A_USER_MESSAGE',
        publicMessage: 'Only messages of the user can be edited. Regenerate the answer instead.',
        metadata: { messageId },
      });
    case 'notLastAnswer':
      return new AppError({
        reason: 'NOT_THE_LAST_ANSWER',
        publicMessage:
          'Only the last answer can be regenerated. Edit the message before this one, or fork the conversation there.',
        metadata: { messageId, lastTurnId: turnId(decision.lastSeq) },
      });
    case 'messageReplaced':
      return messageReplacedError(messageId);
    case 'tooFarBack':
      return new AppError({
        reason: 'EDIT_TOO_FAR_BACK',
        publicMessage: `An edit replaces at most ${REPLACED_MAX} turns, this one ${decision.replaced}. Fork the conversation at that message instead.`,
        metadata: {
          messageId,
          replacedTurns: String(decision.replaced),
          replacedTurnsMax: String(REPLACED_MAX),
        },
      });
  }
}
