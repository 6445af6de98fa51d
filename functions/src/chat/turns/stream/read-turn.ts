import { seqOfId } from '#shared/conversation/documents/paths.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { AppError } from '#shared/errors.ts';
import type { Versioned } from '#shared/conversation/documents/conversation.ts';
import type { Caller } from '#shared/ports/ports.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import {
  readOwnConversation,
  type OwnConversation,
} from '#functions/chat/conversations/own-conversation.ts';

const turnNotFound = (conversationId: string, turnId: string) =>
  new AppError({
    status: 'NOT_FOUND',
    reason: 'TURN_NOT_FOUND',
    message: `no turn ${turnId} in ${conversationId}`,
    publicMessage: 'The conversation has no such turn.',
    metadata: { turnId },
  });

/** A turn of the caller's own conversation. Throws NOT_FOUND, TURN_NOT_FOUND. */
export async function readOwnTurn(
  dependencies: Pick<ChatDependencies, 'store'>,
  target: { caller: Caller; conversationId: string; turnId: string },
): Promise<{ own: OwnConversation; turn: Versioned<Turn> }> {
  const { conversationId, turnId } = target;
  const own = await readOwnConversation(dependencies, target);
  const seq = seqOfId(turnId, 't') ?? 0;
  const isThere = seq >= 1 && seq <= own.conversation.value.lastSeq;
  const [turn] = isThere ? await readTurns(dependencies.store, conversationId, [seq]) : [];
  if (!turn) throw turnNotFound(conversationId, turnId);
  return { own, turn };
}
