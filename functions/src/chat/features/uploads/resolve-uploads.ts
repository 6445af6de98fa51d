import type { Part } from '#shared/conversation/documents/content.ts';
import type { FileBucket } from '#shared/ports/file-ports.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { fileLength, LENGTH_BYTES } from '#shared/uploads/file-length.ts';
import { fileFamily, looksLike } from '#shared/uploads/file-types.ts';
import { FILES_MAX_BYTES } from '#shared/uploads/limits.ts';
import { uploadPath } from '#shared/conversation/documents/paths.ts';
import { decodeUpload, type Upload } from '#shared/uploads/upload.ts';
import { mediaPart, textFilePart, unreadUploadId } from '#shared/uploads/upload-parts.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { inParallel } from '#functions/lib/promises.ts';
import { requireBucket, filesTooLarge, typeMismatch, uploadNotFound } from './upload-errors.ts';

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
async function resolvedPart(files: FileBucket, uid: string, upload: Upload): Promise<Part> {
  const { id, mimeType, sizeBytes, name } = upload;
  const path = uploadPath(uid, id);
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
): Promise<Upload[]> {
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
  if (sizeBytes > FILES_MAX_BYTES) throw filesTooLarge(sizeBytes);
  const resolved = new Map(
    await inParallel(
      uploads,
      READS,
      async (upload) => [upload.id, await resolvedPart(files, caller.uid, upload)] as const,
    ),
  );
  return parts.map((part) => resolved.get(unreadUploadId(part) ?? '') ?? part);
}
