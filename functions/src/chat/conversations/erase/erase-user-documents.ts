import { uploadsCollection, usagePath, userPath } from '#shared/conversation/documents/paths.ts';
import type { Caller, StoredDocument, Write } from '#shared/ports/ports.ts';
import { decodeUsage, encodeUsage, nextDay, toDay, type Usage } from '#shared/quota/usage.ts';
import { usageKept, usageSum } from '#shared/quota/usage-kept.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { retryWhenLost } from '#functions/lib/retry.ts';

function keptWrite(
  input: { path: string; document: StoredDocument | undefined },
  kept: Usage,
  now: Date,
): Write {
  const { path, document } = input;
  const usage = document ? usageSum(kept, decodeUsage(document)) : kept;
  // It goes with its day, not when a bill is forgotten; later writes of the day leave that (`usageWrite`).
  const fields = { ...encodeUsage(usage, now), expireTime: nextDay(now) };
  return document
    ? { op: 'update', path, fields, guard: { updateTime: document.updateTime } }
    : { op: 'create', path, fields };
}

/** Puts the figures of today back, beside what was counted meanwhile. Throws GuardLostError in the end. */
async function keepFigures(
  { store, clock }: Pick<ChatDependencies, 'store' | 'clock'>,
  path: string,
  kept: Usage,
): Promise<void> {
  await retryWhenLost(clock, async () => {
    const [document] = await store.get([path]);
    await store.commit([keptWrite({ path, document }, kept, clock.now())]);
  });
}

/**
 * Deletes all that is kept about a person beside conversations, their files included, but for the bare figures of today's quota
 * (`usageKept`), which expire with the day. Throws GuardLostError, FILES_UNAVAILABLE, StoreUnavailableError.
 */
export async function eraseUserDocuments(
  dependencies: ChatDependencies,
  caller: Caller,
): Promise<void> {
  const { store, clock, files } = dependencies;
  const path = userPath(caller.uid);
  const counted = usagePath(caller.uid, toDay(clock.now()));
  const [today] = await store.get([counted]);
  while ((await store.deleteBelow(path)) > 0);
  await store.commit([{ op: 'delete', path }]);
  await files?.deleteFolder(uploadsCollection(caller.uid));
  if (today) await keepFigures(dependencies, counted, usageKept(decodeUsage(today)));
  await passCrashPoint(dependencies, 'user-documents-erased');
}
