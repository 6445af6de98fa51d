import { uploadsCollection } from '#shared/conversation/documents/paths.ts';
import type { FileBucket, DocumentStore, StoredDocument } from '#shared/ports/ports.ts';
import { readPages } from '#shared/store/many-documents.ts';
import { decodeUpload, uploadFilePath } from '#shared/uploads/upload.ts';
import { retry } from '../lib/retry.ts';

/** Uploads of one read; each is a few hundred bytes. */
const UPLOADS_PER_READ = 100;
/** Messages may name an upload while it is released. */
const RELEASE_TRIES = 10;

interface Releasing {
  store: Pick<DocumentStore, 'get' | 'query' | 'commit'>;
  /** Undefined where the deployment takes no uploads: then nothing is released. */
  files?: FileBucket | undefined;
}

type IsReleased = (turnKey: string) => boolean;

/**
 * Takes turns off an upload; the file goes with the last one. The file first, then the document: who stops
 * between them finds the document again.
 */
async function release(
  { store, files }: Releasing & { files: FileBucket },
  found: StoredDocument,
  isReleased: IsReleased,
): Promise<void> {
  const { path } = found;
  const attempt = async (tries: number) => {
    const [document] = tries === 1 ? [found] : await store.get([path]);
    if (!document) return;
    const turns = Object.keys(decodeUpload(document)?.turns ?? {});
    const released = turns.filter(isReleased);
    if (released.length === 0) return;
    const guard = { updateTime: document.updateTime };
    const remove = released.map((key) => `turns.${key}`);
    if (released.length < turns.length)
      await store.commit([{ op: 'update', path, fields: {}, remove, guard }]);
    else {
      await files.delete(uploadFilePath(document));
      await store.commit([{ op: 'delete', path, guard }]);
    }
  };
  await retry(attempt, { mostTries: RELEASE_TRIES });
}

/**
 * Deletes the files that only released turns name. Reads every upload of the owner; may stop anywhere and be
 * repeated. Throws FILES_UNAVAILABLE, GuardLostError, StoreUnavailableError.
 */
export async function releaseUploads(
  { store, files }: Releasing,
  input: { ownerUid: string; isReleased: IsReleased },
): Promise<void> {
  if (!files || input.ownerUid === '') return;
  const collection = uploadsCollection(input.ownerUid);
  for await (const page of readPages(store, { collection, limit: UPLOADS_PER_READ }))
    for (const document of page) await release({ store, files }, document, input.isReleased);
}
