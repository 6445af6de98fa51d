import { failureReason } from '#functions/lib/failure-reason.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { GuardLostError } from '#shared/errors.ts';
import { mayStoreTitle } from '#shared/titles/title-decision.ts';
import { retry } from '#functions/lib/retry.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';

/** A title is not worth a fight for the conversation document: who loses its guard this often gives up. */
const STORE_TRIES = 10;
const STORE_RETRY_MS = 20;

interface MadeTitle {
  conversationId: string;
  title: string;
  throughSeq: number;
  /** The conversation document as the turn began. */
  madeFrom: Pick<Conversation, 'epoch' | 'changedIn'>;
}

/**
 * Stores a title that a model made, unless the user has set one meanwhile, or the turns that it was made of
 * have changed. Resolves to whether it stands. Never throws.
 */
export async function storeTitle(
  { store, clock, logger }: Pick<ChatDependencies, 'store' | 'clock' | 'logger'>,
  made: MadeTitle,
): Promise<boolean> {
  const { conversationId, title, throughSeq } = made;
  const attempt = async () => {
    const conversation = await readConversation(store, conversationId);
    if (!conversation || !mayStoreTitle(conversation.value, made)) return false;
    await store.commit([
      {
        op: 'update',
        path: conversationPath(conversationId),
        fields: { title, autoTitle: { throughSeq } },
        guard: { updateTime: conversation.updateTime },
      },
    ]);
    return true;
  };
  try {
    return await retry(attempt, {
      mostTries: STORE_TRIES,
      beforeNext: (tries) => clock.wait(STORE_RETRY_MS * tries),
    });
  } catch (error) {
    if (error instanceof GuardLostError) return false;
    const reason = failureReason(error);
    logger.log('WARNING', 'title_not_stored', { conversationId, throughSeq, reason });
    return false;
  }
}
