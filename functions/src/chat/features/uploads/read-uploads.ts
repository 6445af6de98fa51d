import type { SignedRequest } from '#shared/ports/file-ports.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { uploadPath, uploadsCollection } from '#shared/conversation/documents/paths.ts';
import { readPages } from '#shared/store/read-pages.ts';
import { decodeUpload, type Upload } from '#shared/uploads/upload.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { requireBucket, uploadNotFound } from './upload-errors.ts';

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
  { uid }: Caller,
  upload: Upload,
): Promise<ReadableUpload> => {
  const { id, name } = upload;
  const request = await requireBucket(dependencies).signDownload({
    path: uploadPath(uid, id),
    name,
  });
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
  return readable(dependencies, caller, upload);
}

/** All uploads of the caller, by their ids; none where uploads are off. Throws FILES_UNAVAILABLE. */
export async function* allUploads(
  dependencies: Dependencies,
  caller: Caller,
): AsyncGenerator<ReadableUpload> {
  if (!dependencies.files) return;
  const collection = uploadsCollection(caller.uid);
  for await (const page of readPages(dependencies.store, { collection, limit: UPLOADS_PER_READ }))
    for (const upload of page.map(decodeUpload))
      if (upload) yield readable(dependencies, caller, upload);
}
