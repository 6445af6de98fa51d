import type { Config } from '#functions/config.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { retryWhenLost } from '#functions/lib/retry.ts';
import { reservationHoldMs } from '#functions/quota/quota-settings.ts';
import {
  CLAIMS,
  uploadsCollection,
  usageCollection,
  usagePath,
  userPath,
} from '#shared/conversation/documents/paths.ts';
import { inParallel } from '#shared/lib/in-parallel.ts';
import type { AtCrashPoint, Clock, DocumentStore, FileBucket, Write } from '#shared/ports/ports.ts';
import { countedDays, nextDay } from '#shared/quota/usage.ts';
import { readPages } from '#shared/store/many-documents.ts';
import { uploadFilePath } from '#shared/uploads/upload.ts';

/** What the erasure of a person's documents works with. */
export interface EraseUserDependencies {
  store: DocumentStore;
  clock: Clock;
  config: Config;
  atCrashPoint: AtCrashPoint;
  /** The bucket of uploads; undefined where there are none. */
  files?: FileBucket | undefined;
}

/** Documents of one read. */
const PAGE = 100;
/** Files that are deleted side by side. */
const DELETIONS = 8;

/** Days of figures that are read at once: more than are kept of anybody. */
const USAGE_DAYS_MAX = 100;

/**
 * Deletes the figures of earlier days. Those that still count stay until the day ends: else erasing oneself would give
 * anybody the day's quota anew, and what is on its way could not be charged. They hold sums, times and hashes.
 */
async function eraseFigures(
  { store, clock, config }: EraseUserDependencies,
  uid: string,
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
 * Deletes the files of a person's uploads, before those: below the path of a guest there are also files of the account
 * that took them over, and of a person there may be some elsewhere. Bytes without an upload are gone from the bucket
 * within a day. Throws FILES_UNAVAILABLE, StoreUnavailableError.
 */
export async function eraseUserFiles(
  { store, files }: EraseUserDependencies,
  uid: string,
): Promise<void> {
  if (!files) return;
  const collection = uploadsCollection(uid);
  for await (const page of readPages(store, { collection, limit: PAGE }))
    await inParallel(page, DELETIONS, (upload) => files.delete(uploadFilePath(upload)));
}

/** Drops the claims of an account that is erased: what a guest has left must not come to it any more. */
export async function dropClaimsOf(
  { store }: Pick<EraseUserDependencies, 'store'>,
  uid: string,
): Promise<void> {
  const where = [{ field: 'uid', op: '==', value: uid }] as const;
  for await (const page of readPages(store, { collection: CLAIMS, where, limit: PAGE }))
    await store.commit(page.map(({ path }) => ({ op: 'delete', path })));
}

/**
 * Deletes all documents that are kept about a person beside conversations. Only the bare figures of today's quota stay,
 * until the day ends. Throws GuardLostError, StoreUnavailableError.
 */
export async function eraseUserDocuments(
  dependencies: EraseUserDependencies,
  uid: string,
): Promise<void> {
  const { store } = dependencies;
  const path = userPath(uid);
  while ((await store.deleteBelow(path)) > 0);
  await store.commit([{ op: 'delete', path }]);
  await eraseFigures(dependencies, uid);
  await passCrashPoint(dependencies, 'user-documents-erased');
}
