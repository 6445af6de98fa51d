import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { markErasing } from '#functions/erasure/erase-conversation.ts';
import {
  dropClaimsOf,
  eraseUserDocuments,
  eraseUserFiles,
} from '#functions/erasure/erase-user-documents.ts';
import { publishErase } from '#functions/events/publish-request.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { settleAll } from '#functions/lib/promises.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { ownConversations } from '../own-conversation.ts';

/** A pass finds what was begun behind the one before it; who begins more all the while is not waited for. */
const PASSES_MAX = 20;
/** Conversations that are marked side by side: ten thousand of them within the time of a request. */
const MARKED_AT_ONCE = 10;

/** Marks every conversation that is not in `marked` yet, and tells the workers. Returns how many these are. */
async function markAll(
  dependencies: ChatDependencies,
  caller: Caller,
  marked: Set<string>,
): Promise<number> {
  const before = marked.size;
  const isTheirs = (conversation: Conversation) => conversation.ownerUid === caller.uid;
  const found = ownConversations(dependencies, caller);
  // One walk for all of them: whoever is free takes the next, and a failure ends it.
  const markSome = async () => {
    for await (const { conversationId } of found) {
      if (marked.has(conversationId)) continue;
      const result = await markErasing(dependencies, conversationId, isTheirs);
      if (result !== 'erasing') continue;
      marked.add(conversationId);
      await passCrashPoint(dependencies, 'conversation-marked');
      await publishErase(dependencies, conversationId);
      await passCrashPoint(dependencies, 'erase-published');
    }
  };
  await settleAll(Array.from({ length: MARKED_AT_ONCE }, markSome));
  return marked.size - before;
}

/**
 * Erases everything of a caller: marks every conversation, in whatever state, tells the workers to erase
 * it, and deletes the user's files and what stands below the user. A fork may have become live behind the
 * walk while its source was not marked yet, so the walk is repeated until it finds nothing: then every source
 * is marked, and no fork of one can become live. From here on nobody finds the conversations; one that is begun meanwhile
 * with new messages may stay. Returns how many are being erased. May be repeated.
 * Throws GuardLostError, StoreUnavailableError; then the same request again goes on.
 */
export async function eraseUser(
  dependencies: ChatDependencies,
  { caller }: { caller: Caller },
): Promise<{ conversations: number }> {
  const marked = new Set<string>();
  await dropClaimsOf(dependencies, caller.uid);
  for (let pass = 1; pass <= PASSES_MAX; pass++)
    if ((await markAll(dependencies, caller, marked)) === 0) break;
  await eraseUserFiles(dependencies, caller.uid);
  await eraseUserDocuments(dependencies, caller.uid);
  return { conversations: marked.size };
}
