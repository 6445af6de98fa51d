import type { Head } from '#shared/conversation/documents/head.ts';
import { headPath } from '#shared/conversation/documents/paths.ts';
import { readHead } from '#shared/conversation/context/read-conversation.ts';
import { AppError, GuardLostError } from '#shared/errors.ts';
import { mayStoreTitle } from '#shared/titles/title-decision.ts';
import { retry } from '#functions/lib/retry.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';

/** A title is not worth a fight for the head: who loses its guard this often gives up. */
const STORE_TRIES = 10;
const STORE_RETRY_MS = 20;

interface MadeTitle {
  conversationId: string;
  title: string;
  throughSeq: number;
  /** The head as the turn began. */
  madeFrom: Pick<Head, 'epoch' | 'changedIn'>;
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
    const head = await readHead(store, conversationId);
    if (!head || !mayStoreTitle(head.value, made)) return false;
    await store.commit([
      {
        op: 'update',
        path: headPath(conversationId),
        fields: { title, autoTitle: { throughSeq } },
        guard: { updateTime: head.updateTime },
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
    const reason = error instanceof AppError ? error.reason : 'INTERNAL';
    logger.log('WARNING', 'title_not_stored', { conversationId, throughSeq, reason });
    return false;
  }
}
