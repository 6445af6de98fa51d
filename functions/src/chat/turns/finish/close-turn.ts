import { readPartialAnswer } from '#shared/wire/partial-answer.ts';
import {
  type ClosingTurn,
  closedAs,
  abandonedFields,
  closeTurnWrites,
  toClosingTurn,
} from '#shared/conversation/writes/abandoned-turns.ts';
import { addAfterwork, type ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { notFoundError } from '#functions/chat/not-found.ts';
import { meterCounting } from '#functions/config/conversation-policy.ts';
import { requestAfterClosing } from '#functions/context/request-after-closing.ts';
import { publishRequest } from '#functions/events/publish-request.ts';
import {
  endedBy,
  type EndedTurn,
  publishTurnFinished,
} from '#functions/events/publish-turn-event.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import type { Conversation, Versioned } from '#shared/conversation/documents/conversation.ts';
import { inboxWrites } from '#shared/conversation/documents/inbox.ts';
import { newestAnswer } from '#shared/conversation/documents/last-message.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import type { TurnDocument } from '#shared/conversation/documents/turn.ts';

/**
 * Closes an abandoned turn, or one that waits for the app, as cancelled, with what it had said so far. Throws NOT_FOUND,
 * GuardLostError, StoreUnavailableError.
 */
export async function closeCancelled(
  dependencies: ChatDependencies,
  conversationId: string,
  { turn, now }: { turn: TurnDocument; now: Date },
): Promise<void> {
  const { store } = dependencies;
  const conversation = await readConversation(store, conversationId);
  if (!conversation) throw notFoundError();
  const counting = meterCounting(conversation.value);
  const partial = await readPartialAnswer(store, { conversationId, turn, counting });
  const closing = { ...abandonedFields(turn, now), end: { state: 'cancelled' as const, partial } };
  await closeOpenTurn(dependencies, { conversationId, conversation, turn, closing });
}

/**
 * Closes the open turn and frees the conversation, in one batch under the update times of both. What the turn has said and
 * done comes into the context with it, so the batch says whether that needs a compaction, as the end of an answer does.
 * Throws GuardLostError, StoreUnavailableError.
 */
export async function closeOpenTurn(
  dependencies: ChatDependencies,
  target: {
    conversationId: string;
    conversation: Versioned<Conversation>;
    turn: TurnDocument;
    closing: ClosingTurn;
  },
): Promise<void> {
  const { conversationId, conversation, turn, closing } = target;
  const compactionRequest = await requestAfterClosing(dependencies, {
    conversationId,
    conversation: conversation.value,
    closing,
  });
  const now = dependencies.clock.now();
  const answered = newestAnswer(conversation.value.answered, closedAs(closing, now));
  const after = { ...conversation.value, answered, open: undefined };
  await dependencies.store.commit([
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: {
        answered,
        updateTime: now,
        ...(compactionRequest && { 'compactionRequests.auto': { ...compactionRequest } }),
      },
      remove: ['open'],
      guard: { updateTime: conversation.updateTime },
    },
    ...inboxWrites(conversationId, after, { now, read: { unread: true } }),
    ...closeTurnWrites(conversationId, { ...closing, now }),
  ]);
  tellClosed(dependencies, conversationId, endedBy(turn.value, closing));
  if (!compactionRequest) return;
  const { requestId, trigger } = compactionRequest;
  await publishRequest(dependencies, { conversationId, requestId, trigger });
}

/** Tells of the end of a turn that a batch has closed, as seen by its user, who has stopped it or goes on behind it. */
export function tellClosed(
  dependencies: ChatDependencies,
  conversationId: string,
  turn: EndedTurn,
): void {
  const ended = { turn, isAttended: true };
  addAfterwork(dependencies, publishTurnFinished(dependencies, conversationId, ended));
}

/** The same of abandoned turns, as `toClosingTurn` ends them. */
export function tellAbandoned(
  dependencies: ChatDependencies,
  conversationId: string,
  turns: readonly TurnDocument[],
): void {
  const now = dependencies.clock.now();
  for (const turn of turns) {
    const closing = toClosingTurn(abandonedFields(turn, now));
    tellClosed(dependencies, conversationId, endedBy(turn.value, closing));
  }
}
