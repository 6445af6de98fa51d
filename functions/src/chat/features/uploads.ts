import type { FileBucket, SignedRequest, Caller, Write } from '#shared/ports/ports.ts';
import { readPages } from '#shared/store/many-documents.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { failureReason } from '#functions/lib/failure-reason.ts';
import { inParallel } from '#shared/lib/in-parallel.ts';
import type { Part, Content } from '#shared/models/content.ts';
import { uploadPath, uploadsCollection } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/lib/errors.ts';
import { toDay, nextDay } from '#shared/quota/usage.ts';
import { fileLength, LENGTH_BYTES, fileFamily, looksLike } from '#shared/uploads/file-types.ts';
import { FILES_MAX_BYTES, UNSENT_KEPT_MS } from '#shared/uploads/limits.ts';
import {
  mediaPart,
  textFilePart,
  unreadUploadId,
  uploadsIn,
} from '#shared/uploads/upload-parts.ts';
import {
  encodeUpload,
  type StoredUpload,
  type Upload,
  decodeUpload,
  turnKey,
} from '#shared/uploads/upload.ts';

/** One body for unknown and other people's uploads, and for what was never sent: an id must tell nothing. */
const uploadNotFound = (uploadId: string) =>
  new AppError({
    reason: 'UPLOAD_NOT_FOUND',
    publicMessage:
      'You have no uploaded file under this id. Check the id, and PUT the bytes to the address that POST /v1/uploads gave; a file that no message names expires after a day.',
    metadata: { uploadId },
  });

/** The bucket. Throws UPLOADS_OFF where there is none. */
function requireBucket({ files }: { files?: FileBucket | undefined }): FileBucket {
  if (!files)
    throw new AppError({
      reason: 'UPLOADS_OFF',
      publicMessage:
        'This deployment takes no uploads: its operator has not set UPLOADS_BUCKET. Small files can be sent as `data`.',
    });
  return files;
}

const typeMismatch = (uploadId: string, declared: { mimeType: string; sizeBytes: number }) =>
  new AppError({
    reason: 'UPLOAD_TYPE_MISMATCH',
    publicMessage: `The uploaded file is not what was declared: ${declared.mimeType} of ${declared.sizeBytes} bytes. Upload it again with its own media type and size.`,
    metadata: { uploadId, mimeType: declared.mimeType },
  });

const tooManyUploads = (limit: number, { now, resetTime }: { now: Date; resetTime: Date }) =>
  new AppError({
    reason: 'USER_DAILY_UPLOADS',
    publicMessage: `${limit} uploads may be begun in a day (UTC). Go on tomorrow.`,
    retryAfterMs: resetTime.getTime() - now.getTime(),
    metadata: { limit: String(limit), resetTime: resetTime.toISOString() },
  });

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

/** Uploads of one read of a list; each is a few hundred bytes. */
const UPLOADS_PER_READ = 100;

interface ReadableUpload {
  upload: Upload;
  /** Where its bytes can be read for some minutes. */
  request: SignedRequest;
}

type Dependencies = Pick<ChatDependencies, 'store' | 'files'>;

const readable = async (
  dependencies: Dependencies,
  upload: StoredUpload,
): Promise<ReadableUpload> => {
  const { filePath: path, name } = upload;
  const request = await requireBucket(dependencies).signDownload({ path, name });
  return { upload, request };
};

/** One upload of the caller. Throws UPLOADS_OFF, UPLOAD_NOT_FOUND, FILES_UNAVAILABLE. */
export async function readUpload(
  dependencies: Dependencies,
  { caller, uploadId }: { caller: Caller; uploadId: string },
): Promise<ReadableUpload> {
  requireBucket(dependencies);
  const [document] = await dependencies.store.get([uploadPath(caller.uid, uploadId)]);
  const upload = document && decodeUpload(document);
  if (!upload) throw uploadNotFound(uploadId);
  return readable(dependencies, upload);
}

/** All uploads of the caller, by their ids; none where uploads are off. Throws FILES_UNAVAILABLE. */
export async function* allUploads(
  dependencies: Dependencies,
  caller: Caller,
): AsyncGenerator<ReadableUpload> {
  if (!dependencies.files) return;
  const collection = uploadsCollection(caller.uid);
  for await (const page of readPages(dependencies.store, { collection, limit: UPLOADS_PER_READ }))
    for (const upload of page.map(decodeUpload)) if (upload) yield readable(dependencies, upload);
}

/** Files that are looked at side by side. */
const READS = 4;

/** Whether parts name uploads that have not been looked up. */
export const hasUnreadUploads = (parts: readonly Part[]): boolean =>
  parts.some((part) => unreadUploadId(part) !== undefined);

/** Text in UTF-8, or undefined for what is none. */
function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The part that a turn stores for an upload whose file is there and is what it says. */
async function resolvedPart(files: FileBucket, upload: StoredUpload): Promise<Part> {
  const { id, mimeType, sizeBytes, name, filePath: path } = upload;
  const found = await files.stat(path);
  if (!found) throw uploadNotFound(id);
  if (found.mimeType !== mimeType || found.sizeBytes !== sizeBytes) throw typeMismatch(id, upload);
  const isText = fileFamily(mimeType) === 'text';
  const bytes = await files.read(path, { maxBytes: isText ? sizeBytes : LENGTH_BYTES });
  if (!bytes) throw uploadNotFound(id);
  if (!looksLike(mimeType, bytes)) throw typeMismatch(id, upload);
  const file = { id, path, mimeType, sizeBytes, ...(name !== undefined && { name }) };
  if (!isText) return mediaPart({ ...file, ...fileLength({ mimeType, sizeBytes, bytes }) });
  const text = decoded(bytes);
  if (text === undefined) throw typeMismatch(id, upload);
  return textFilePart(file, text);
}

/** The caller's uploads of these ids, each once. Throws UPLOAD_NOT_FOUND for the first that is not theirs. */
async function readUploads(
  { store }: Pick<ChatDependencies, 'store'>,
  { uid }: Caller,
  ids: readonly string[],
): Promise<StoredUpload[]> {
  const documents = await store.get(ids.map((id) => uploadPath(uid, id)));
  return documents.map((document, index) => {
    const upload = document && decodeUpload(document);
    if (!upload) throw uploadNotFound(ids[index] ?? '');
    return upload;
  });
}

/**
 * Parts of a new message with its uploads looked up: text files as their text, cut; all others as references.
 * Parts without uploads come back as they are. Throws UPLOADS_OFF, UPLOAD_NOT_FOUND, UPLOAD_TYPE_MISMATCH,
 * FILES_TOO_LARGE, FILES_UNAVAILABLE.
 */
export async function resolveUploads(
  dependencies: Pick<ChatDependencies, 'store' | 'files'>,
  caller: Caller,
  parts: readonly Part[],
): Promise<Part[]> {
  const ids = [...new Set(parts.map(unreadUploadId).filter((id) => id !== undefined))];
  if (ids.length === 0) return [...parts];
  const files = requireBucket(dependencies);
  const uploads = await readUploads(dependencies, caller, ids);
  const sizeBytes = uploads.reduce((sum, upload) => sum + upload.sizeBytes, 0);
  if (sizeBytes > FILES_MAX_BYTES)
    throw new AppError({
      reason: 'FILES_TOO_LARGE',
      publicMessage: `The uploads of the message have ${sizeBytes} bytes together; the limit is ${FILES_MAX_BYTES}. Send fewer in one message.`,
      metadata: { sizeBytes: String(sizeBytes), limitBytes: String(FILES_MAX_BYTES) },
    });
  const resolved = new Map(
    await inParallel(
      uploads,
      READS,
      async (upload) => [upload.id, await resolvedPart(files, upload)] as const,
    ),
  );
  return parts.map((part) => resolved.get(unreadUploadId(part) ?? '') ?? part);
}

/** Files that are kept side by side: the user waits for it. */
const KEPT_AT_ONCE = 8;

interface NamingTurn {
  conversationId: string;
  seq: number;
  user: Content;
}

/** The document of an upload, and the turn that names it. */
interface NamedUpload {
  path: string;
  /** Of `turnKey`. */
  key: string;
}

/** The uploads that a turn of a user names. */
export const namedBy = (uid: string, { conversationId, seq, user }: NamingTurn): NamedUpload[] =>
  uploadsIn([user]).map(({ id }) => ({
    path: uploadPath(uid, id),
    key: turnKey(conversationId, seq),
  }));

/**
 * Notes at uploads which turns name them, so that they neither expire nor are deleted with another turn. For the
 * batch that stores the turns; an upload that is gone is left out, and one that goes meanwhile fails the batch.
 */
export async function namingWrites(
  { store }: Pick<ChatDependencies, 'store'>,
  named: readonly NamedUpload[],
): Promise<Write[]> {
  const keysByPath = Map.groupBy(named, ({ path }) => path);
  if (keysByPath.size === 0) return [];
  const documents = await store.get([...keysByPath.keys()]);
  return documents
    .filter((document) => document !== undefined)
    .map(({ path }) => ({
      op: 'update',
      path,
      fields: Object.fromEntries(
        (keysByPath.get(path) ?? []).map(({ key }) => [`turns.${key}`, true] as const),
      ),
      remove: ['expireTime'],
      guard: { exists: true },
    }));
}

/**
 * Keeps the files of a message that has been stored: until now the bucket would have dropped them in some days.
 * Never throws: what could not be kept is logged, and a turn that is taken over tries again.
 */
export async function keepUploads(
  { files, logger }: Pick<ChatDependencies, 'files' | 'logger'>,
  { conversationId, seq, user }: NamingTurn,
): Promise<void> {
  if (!files) return;
  await inParallel(uploadsIn([user]), KEPT_AT_ONCE, ({ path }) =>
    files.keep(path).catch((error: unknown) => {
      const reason = failureReason(error);
      logger.log('ERROR', 'upload_not_kept', { conversationId, seq, reason });
    }),
  );
}
