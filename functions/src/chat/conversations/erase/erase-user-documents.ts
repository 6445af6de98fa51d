import {
  uploadsCollection,
  usageCollection,
  usagePath,
  userPath,
} from '#shared/conversation/documents/paths.ts';
import type { Caller, Write } from '#shared/ports/ports.ts';
import { countedDays, nextDay } from '#shared/quota/usage.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { retryWhenLost } from '#functions/lib/retry.ts';
import { reservationHoldMs } from '#functions/quota/quota-settings.ts';

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
export async function eraseUserDocuments(
  dependencies: ChatDependencies,
  caller: Caller,
): Promise<void> {
  const { store, files } = dependencies;
  const path = userPath(caller.uid);
  while ((await store.deleteBelow(path)) > 0);
  await store.commit([{ op: 'delete', path }]);
  await files?.deleteFolder(uploadsCollection(caller.uid));
  await eraseFigures(dependencies, caller);
  await passCrashPoint(dependencies, 'user-documents-erased');
}
