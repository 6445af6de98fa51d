import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { messageNotFoundError } from '#functions/chat/not-found.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import type { Conversation, Versioned } from '#shared/conversation/documents/conversation.ts';
import { messageGuardPath, seqOfId, turnId } from '#shared/conversation/documents/paths.ts';
import { decodeMessageGuard, type Turn } from '#shared/conversation/documents/turn.ts';
import { AppError } from '#shared/lib/errors.ts';
import { toLowerUuid } from '#shared/lib/uuid.ts';

export interface ReadConversation {
  conversationId: string;
  conversation: Conversation;
}

/** 409: what is to be done with a message is not done while its turn runs or waits. */
export const unfinishedTurnError = (seq: number) =>
  new AppError({
    reason: 'TURN_IN_PROGRESS',
    publicMessage:
      'This message is being answered, or waits for its answer. Wait for it, or cancel it.',
    metadata: { turnId: turnId(seq) },
  });

/**
 * The turn that a message id names: an answer's own (`m_17`), or the client's of a user message. Throws
 * MESSAGE_NOT_FOUND.
 */
export async function findMessage(
  { store }: Pick<ChatDependencies, 'store'>,
  { conversationId, conversation }: ReadConversation,
  messageId: string,
): Promise<{ seq: number; turn: Versioned<Turn>; isAnswer: boolean }> {
  const answered = seqOfId(messageId, 'm');
  const guardPath = messageGuardPath(conversationId, toLowerUuid(messageId));
  const [guard] = answered ? [] : await store.get([guardPath]);
  const seq = answered ?? (guard && decodeMessageGuard(guard).seq) ?? 0;
  const isThere = seq >= 1 && seq <= conversation.lastSeq;
  const [turn] = isThere ? await readTurns(store, conversationId, [seq]) : [];
  if (!turn) throw messageNotFoundError(messageId);
  return { seq, turn, isAnswer: answered !== undefined };
}

/**
 * The turns that say what the user says in `turn`, in order: it, those that it regenerates and those that
 * regenerate it. Only the last turn is ever regenerated, so they follow each other.
 */
export async function findAlike(
  { store }: Pick<ChatDependencies, 'store'>,
  { conversationId, conversation }: ReadConversation,
  turn: Versioned<Turn>,
): Promise<Versioned<Turn>[]> {
  const read = async (seq: number) => (await readTurns(store, conversationId, [seq]))[0];
  const alike = [turn];
  for (let { regenerates } = turn.value; regenerates !== undefined;) {
    const earlier = await read(regenerates);
    if (earlier) alike.unshift(earlier);
    regenerates = earlier?.value.regenerates;
  }
  for (let { seq } = turn.value; seq < conversation.lastSeq; seq++) {
    const later = await read(seq + 1);
    if (later?.value.regenerates !== seq) break;
    alike.push(later);
  }
  return alike;
}
