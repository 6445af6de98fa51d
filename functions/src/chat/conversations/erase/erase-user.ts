import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { markErasing } from '#functions/erasure/erase-conversation.ts';
import { publishErase } from '#functions/events/publish-request.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { settleAll } from '#functions/lib/promises.ts';
import { retryWhenLost } from '#functions/lib/retry.ts';
import { reservationHoldMs } from '#functions/quota/quota-settings.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import {
  uploadsCollection,
  usageCollection,
  usagePath,
  userPath,
} from '#shared/conversation/documents/paths.ts';
import type { Caller, Write } from '#shared/ports/ports.ts';
import { countedDays, nextDay } from '#shared/quota/usage.ts';
import { ownConversations } from '../own-conversation.ts';

/** Days of figures that are read at once: more than are kept of anybody. */
const USAGE_DAYS_MAX = 100;

/**
 * Deletes the figures of earlier days. Those that still count stay until the day ends: else erasing oneself would give
 * anybody the day's quota anew, and what is on its way could not be charged. They hold sums, times and hashes.
 */
async function eraseFigures(
  { store, clock, config }: Pick<ChatDependencies, 'store' | 'clock' | 'config'>,
  { uid }: Caller,
): Promise<void> {
  await retryWhenLost(clock, async () => {
    const now = clock.now();
    const documents = await store.query({
      collection: usageCollection(uid),
      limit: USAGE_DAYS_MAX,
    });
    const counted = countedDays(now, reservationHoldMs(config)).map((day) => usagePath(uid, day));
    const writes = documents.map(({ path, updateTime }): Write => {
      const guard = { updateTime };
      // Later writes of the day leave it so (`usageWrite`).
      return counted.includes(path)
        ? { op: 'update', path, fields: { expireTime: nextDay(now) }, guard }
        : { op: 'delete', path, guard };
    });
    if (writes.length > 0) await store.commit(writes);
  });
}

/**
 * Deletes all that is kept about a person beside conversations, files included. Only the bare figures of today's quota
 * stay, until the day ends. Throws GuardLostError, FILES_UNAVAILABLE, StoreUnavailableError.
 */
async function eraseUserDocuments(dependencies: ChatDependencies, caller: Caller): Promise<void> {
  const { store, files } = dependencies;
  const path = userPath(caller.uid);
  while ((await store.deleteBelow(path)) > 0);
  await store.commit([{ op: 'delete', path }]);
  await files?.deleteFolder(uploadsCollection(caller.uid));
  await eraseFigures(dependencies, caller);
  await passCrashPoint(dependencies, 'user-documents-erased');
}

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
 * it, and deletes what stands below the user (`eraseUserDocuments`). A fork may have become live behind the
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
  for (let pass = 1; pass <= PASSES_MAX; pass++)
    if ((await markAll(dependencies, caller, marked)) === 0) break;
  await eraseUserDocuments(dependencies, caller);
  return { conversations: marked.size };
}
