import { releaseUploads } from '#functions/erasure/release-uploads.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { eraseNotesFrom } from '#functions/memory/change-notes.ts';
import { readAnyConversation } from '#shared/conversation/context/read-conversation.ts';
import { tombstoneWrite } from '#shared/conversation/documents/conversation.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { GuardLostError } from '#shared/errors.ts';
import { isTurnKey } from '#shared/uploads/upload.ts';
import type { CompactionDependencies } from '../compaction/compaction-dependencies.ts';

type EraseDependencies = Pick<
  CompactionDependencies,
  'store' | 'clock' | 'logger' | 'atCrashPoint' | 'files'
>;

/**
 * Erases a conversation that is marked as erasing: everything below it, again until a pass finds nothing, the notes
 * that a tool made of it and the uploads that nothing else names, then the conversation document, of which a tombstone
 * stays. Where a producer may still append, it waits until that is over and looks again. May stop anywhere and be repeated. `nothing`: it is not marked, gone, or erased already. Throws the signal's
 * reason, FILES_UNAVAILABLE, StoreUnavailableError.
 */
export async function eraseConversation(
  dependencies: EraseDependencies,
  conversationId: string,
  signal: AbortSignal,
): Promise<'erased' | 'nothing'> {
  const { store, clock, logger } = dependencies;
  let documents = 0;
  for (;;) {
    signal.throwIfAborted();
    const conversation = await readAnyConversation(store, conversationId);
    if (conversation?.value.state !== 'erasing') return 'nothing';
    await passCrashPoint(dependencies, 'erase-begun');
    const deleted = await store.deleteBelow(conversationPath(conversationId), signal);
    await passCrashPoint(dependencies, 'erase-pass-done');
    documents += deleted;
    if (deleted > 0) continue;
    const { generation, ownerUid: uid, appendsUntil = new Date(0) } = conversation.value;
    const waitMs = appendsUntil.getTime() - clock.now().getTime();
    if (waitMs > 0) {
      await clock.wait(waitMs, signal);
      continue;
    }
    if (uid !== '') await eraseNotesFrom(dependencies, { uid, conversationId });
    const isReleased = (turnKey: string) => isTurnKey(turnKey, conversationId);
    await releaseUploads(dependencies, { ownerUid: uid, isReleased });
    await passCrashPoint(dependencies, 'erase-uploads-released');
    try {
      await store.commit([
        tombstoneWrite(conversationId, { ...conversation, generation }, clock.now()),
      ]);
    } catch (error) {
      // Another worker erases it too; whoever reads again finds it done.
      if (!(error instanceof GuardLostError)) throw error;
      continue;
    }
    await passCrashPoint(dependencies, 'erase-tombstone-written');
    logger.log('INFO', 'conversation_erased', { conversationId, documents });
    return 'erased';
  }
}
