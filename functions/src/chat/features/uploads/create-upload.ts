import type { SignedRequest } from '#shared/ports/file-ports.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { toDay, nextDay } from '#shared/quota/usage.ts';
import { UNSENT_KEPT_MS } from '#shared/uploads/limits.ts';
import { uploadPath, uploadsCollection } from '#shared/conversation/documents/paths.ts';
import { encodeUpload, type Upload } from '#shared/uploads/upload.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { requireBucket, tooManyUploads } from './upload-errors.ts';

interface CreateUpload {
  caller: Caller;
  mimeType: string;
  sizeBytes: number;
  name?: string | undefined;
}

/** Counts what stands there: uploads at the same time may pass it by as many as they are. */
async function refuseTooMany(
  { store, clock, config }: Pick<ChatDependencies, 'store' | 'clock' | 'config'>,
  { uid }: Caller,
): Promise<void> {
  const { USER_DAILY_UPLOADS: limit } = config;
  if (limit === 0) return;
  const now = clock.now();
  const begun = await store.query({
    collection: uploadsCollection(uid),
    where: [{ field: 'createTime', op: '>=', value: new Date(toDay(now)) }],
    orderBy: { field: 'createTime', direction: 'asc' },
    limit,
  });
  if (begun.length >= limit) throw tooManyUploads(limit, { now, resetTime: nextDay(now) });
}

/**
 * Notes an upload and signs the address that its bytes go to. Until a message names it, it is kept for a day.
 * Throws UPLOADS_OFF, USER_DAILY_UPLOADS, FILES_UNAVAILABLE, StoreUnavailableError.
 */
export async function createUpload(
  dependencies: ChatDependencies,
  { caller, mimeType, sizeBytes, name }: CreateUpload,
): Promise<{ upload: Upload; request: SignedRequest }> {
  const { store, clock, randomness } = dependencies;
  const files = requireBucket(dependencies);
  await refuseTooMany(dependencies, caller);
  const createTime = clock.now();
  const upload: Upload = {
    schemaVersion: 1,
    id: randomness.uuid(),
    mimeType,
    sizeBytes,
    ...(name !== undefined && { name }),
    createTime,
    expireTime: new Date(createTime.getTime() + UNSENT_KEPT_MS),
    turns: {},
  };
  const path = uploadPath(caller.uid, upload.id);
  const request = await files.signUpload({ path, mimeType, sizeBytes });
  await store.commit([{ op: 'create', path, fields: encodeUpload(upload) }]);
  return { upload, request };
}
