import { failureReason } from '#functions/lib/failure-reason.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import type { Write } from '#shared/ports/ports.ts';
import { turnKey } from '#shared/uploads/upload.ts';
import { uploadsIn } from '#shared/uploads/upload-parts.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { inParallel } from '#functions/lib/promises.ts';

/** Files that are kept side by side: the user waits for it. */
const KEPT_AT_ONCE = 8;

interface NamingTurn {
  conversationId: string;
  seq: number;
  user: Content;
}

/** An upload, and the turn that names it. */
interface NamedUpload {
  path: string;
  /** Of `turnKey`. */
  key: string;
}

export const namedBy = ({ conversationId, seq, user }: NamingTurn): NamedUpload[] =>
  uploadsIn([user]).map(({ path }) => ({ path, key: turnKey(conversationId, seq) }));

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
