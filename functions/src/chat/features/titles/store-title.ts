import type { Head } from '#shared/conversation/documents/head.ts';
import { headPath } from '#shared/conversation/documents/paths.ts';
import { readHead } from '#shared/conversation/context/read-conversation.ts';
import { AppError, GuardLostError } from '#shared/errors.ts';
import { mayStoreTitle } from '#shared/titles/title-decision.ts';
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
  try {
    for (let tries = 1; tries <= STORE_TRIES; tries++) {
      const head = await readHead(store, conversationId);
      if (!head || !mayStoreTitle(head.value, made)) return false;
      try {
        await store.commit([
          {
            op: 'update',
            path: headPath(conversationId),
            fields: { title, autoTitle: { throughSeq } },
            guard: { updateTime: head.updateTime },
          },
        ]);
        return true;
      } catch (error) {
        if (!(error instanceof GuardLostError)) throw error;
        await clock.wait(STORE_RETRY_MS * tries);
      }
    }
  } catch (error) {
    const reason = error instanceof AppError ? error.reason : 'INTERNAL';
    logger.log('WARNING', 'title_not_stored', { conversationId, throughSeq, reason });
  }
  return false;
}
