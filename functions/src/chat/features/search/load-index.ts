import { addAfterwork } from '#functions/chat/afterwork.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { SendRequest } from '#functions/chat/turns/send/send-request.ts';
import { recallTokens } from '#functions/config/conversation-policy.ts';
import { withDeadline } from '#functions/lib/deadline.ts';
import { foldedThrough, loadIndex, type LoadedIndex } from '#functions/recall/read-index.ts';
import { indexEvent } from '#shared/compaction/event.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';

/**
 * A turn waits for its index this long, from the time that its conversation document was read; then it goes on without.
 */
const INDEX_WAIT_MS = 100;

/** An index that is being loaded: what is late is there for the next turn. */
export interface IndexLoad {
  startMs: number;
  index: Promise<LoadedIndex | undefined>;
}

type LoadDependencies = Pick<
  ChatDependencies,
  'store' | 'cache' | 'config' | 'logger' | 'clock' | 'publisher' | 'afterwork'
>;

/** Tells the workers that turns which are folded stand in no index; a hint that is lost is given again by the next turn. */
async function askForIndex(
  { publisher, logger }: LoadDependencies,
  target: { conversationId: string; isBroken: boolean },
): Promise<void> {
  logger.log(target.isBroken ? 'WARNING' : 'INFO', 'recall_index_behind', target);
  try {
    await publisher.publish({ topic: 'compaction', data: indexEvent(target) });
  } catch {
    // Said above, and again with the next turn.
  }
}

async function load(
  dependencies: LoadDependencies,
  target: { conversationId: string; conversation: Conversation },
): Promise<LoadedIndex | undefined> {
  const { conversationId, conversation } = target;
  try {
    const index = await loadIndex(dependencies, target);
    if (index.isBroken || index.throughSeq < foldedThrough(conversation))
      await askForIndex(dependencies, { conversationId, isBroken: index.isBroken });
    return index;
  } catch (error) {
    const name = error instanceof Error ? error.name : typeof error;
    dependencies.logger.log('WARNING', 'recall_index_unread', { conversationId, error: name });
    return undefined;
  }
}

/**
 * Begins to load the index of a conversation beside what a turn reads anyway; undefined: nothing is folded, or nothing
 * is to be brought back.
 */
export function startIndexLoad(
  dependencies: LoadDependencies,
  { request, conversation }: { request: SendRequest; conversation: Conversation },
): IndexLoad | undefined {
  if (
    foldedThrough(conversation) <= 0 ||
    recallTokens(dependencies.config, conversation, { request }) === 0
  )
    return undefined;
  const index = load(dependencies, { conversationId: request.conversationId, conversation });
  addAfterwork(dependencies, index);
  return { startMs: dependencies.clock.now().getTime(), index };
}

/** The index if it is there in time. */
export async function inTime(
  { clock, logger }: Pick<ChatDependencies, 'clock' | 'logger'>,
  { index, startMs }: IndexLoad,
  conversationId: string,
): Promise<LoadedIndex | undefined> {
  const ms = Math.max(1, startMs + INDEX_WAIT_MS - clock.now().getTime());
  const { signal } = new AbortController();
  try {
    return await withDeadline({ clock, ms, signal }, () => index);
  } catch {
    logger.log('WARNING', 'recall_late', { conversationId, waitedMs: INDEX_WAIT_MS });
    return undefined;
  }
}
