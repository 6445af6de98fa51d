import type { Head } from '../../../../shared/conversation/head.ts';
import { userPath } from '../../../../shared/conversation/paths.ts';
import type { Caller } from '../../../../shared/ports.ts';
import { markErasing } from '../../erasure/mark-erasing.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { passLifecyclePoint } from '../lifecycle-crash-points.ts';
import { ownConversations } from './own-conversations.ts';
import { publishErase } from './publish-erase.ts';

/** All that is kept about a person beside conversations. */
async function eraseUserDocuments(dependencies: ChatDependencies, caller: Caller): Promise<void> {
  const { store } = dependencies;
  const path = userPath(caller.uid);
  while ((await store.deleteBelow(path)) > 0);
  await store.commit([{ op: 'delete', path }]);
  await passLifecyclePoint(dependencies, 'user-documents-erased');
}

/**
 * Erases everything of a caller: marks every conversation, in whatever state, tells the workers to erase
 * it, and deletes what stands below the user. From here on nobody finds the conversations; one that is
 * begun meanwhile may stay. Returns how many are being erased. May be repeated.
 * Throws GuardLostError, StoreUnavailableError; then the same request again goes on.
 */
export async function eraseUser(
  dependencies: ChatDependencies,
  { caller }: { caller: Caller },
): Promise<{ conversations: number }> {
  let conversations = 0;
  for await (const { conversationId } of ownConversations(dependencies, caller)) {
    const isTheirs = (head: Head) => head.ownerUid === caller.uid;
    const marked = await markErasing(dependencies, conversationId, isTheirs);
    if (marked !== 'erasing') continue;
    conversations += 1;
    await passLifecyclePoint(dependencies, 'conversation-marked');
    await publishErase(dependencies, conversationId);
    await passLifecyclePoint(dependencies, 'erase-published');
  }
  await eraseUserDocuments(dependencies, caller);
  return { conversations };
}
