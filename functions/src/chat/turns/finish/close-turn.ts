import {
  abandonedFields,
  closeAbandonedWrites,
  toClosingTurn,
  endAbandonedWrites,
  type AbandonedTurn,
  type ClosingTurn,
} from '#shared/conversation/writes/end-abandoned.ts';
import type { Conversation, Versioned } from '#shared/conversation/documents/conversation.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { requestAfterClosing } from '#functions/context/request-after-closing.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { StartState } from '../start/read-start.ts';
import { publishRequest } from '#functions/events/publish-request.ts';

/**
 * Ends the open turn, which nobody answers, and frees the conversation, in one batch under the update times of
 * both. What it has said and done comes into the context with it, so the batch says whether that needs a
 * compaction, as the end of an answer does. Throws GuardLostError, StoreUnavailableError.
 */
export async function closeOpenTurn(
  dependencies: ChatDependencies,
  target: { conversationId: string; conversation: Versioned<Conversation>; closing: ClosingTurn },
): Promise<void> {
  const { conversationId, conversation, closing } = target;
  const compactionRequest = await requestAfterClosing(dependencies, {
    conversationId,
    conversation: conversation.value,
    closing,
  });
  const now = dependencies.clock.now();
  await dependencies.store.commit([
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: {
        updateTime: now,
        ...(compactionRequest && { 'compactionRequests.auto': { ...compactionRequest } }),
      },
      remove: ['open'],
      guard: { updateTime: conversation.updateTime },
    },
    ...endAbandonedWrites(conversationId, { ...closing, now }),
  ]);
  if (!compactionRequest) return;
  const { requestId, trigger } = compactionRequest;
  await publishRequest(dependencies, { conversationId, requestId, trigger });
}

/** The same as its user would have it end. */
export const closeAbandonedTurn = (
  dependencies: ChatDependencies,
  target: {
    conversationId: string;
    conversation: Versioned<Conversation>;
    abandoned: AbandonedTurn;
  },
): Promise<void> =>
  closeOpenTurn(dependencies, { ...target, closing: toClosingTurn(target.abandoned) });

/** Closes a turn that was tried too often, or waited too long, and frees the conversation. Throws GuardLostError. */
export async function giveUpTurn(
  dependencies: ChatDependencies,
  conversationId: string,
  { conversation, known }: StartState,
): Promise<void> {
  if (!conversation || !known) return;
  const now = dependencies.clock.now();
  const abandoned = abandonedFields(known, now);
  if (conversation.value.open?.seq === known.value.seq)
    return closeAbandonedTurn(dependencies, { conversationId, conversation, abandoned });
  await dependencies.store.commit(
    closeAbandonedWrites(conversationId, { abandoned: [abandoned], now }),
  );
}
