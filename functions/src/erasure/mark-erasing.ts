import type { Head } from '#shared/conversation/documents/head.ts';
import { compactionJobPath, headPath, statusPath } from '#shared/conversation/documents/paths.ts';
import { readAnyHead } from '#shared/conversation/context/read-conversation.ts';
import type { Clock, DocumentStore } from '#shared/ports/ports.ts';
import { closingWrites } from './close-turns.ts';
import { retryWhenLost } from '../lib/retry.ts';

/**
 * The first step of erasing a conversation, one batch: the head is `erasing` and takes a generation, open
 * turns end, the compaction job and the status go. From here on every guard of chat and worker fails, so
 * nothing new appears below it. `isWanted` is asked again with every
 * reading, and may throw.
 * `erasing`: it is marked, now or before. `kept`: it is not wanted. `gone`: there is none, or a tombstone.
 * Throws GuardLostError when others won every try, StoreUnavailableError.
 */
export async function markErasing(
  { store, clock }: { store: Pick<DocumentStore, 'get' | 'commit'>; clock: Clock },
  conversationId: string,
  isWanted: (head: Head, updateTime: string) => boolean,
): Promise<'erasing' | 'kept' | 'gone'> {
  return retryWhenLost(clock, async () => {
    const head = await readAnyHead(store, conversationId);
    if (!head || head.value.state === 'erased') return 'gone';
    if (!isWanted(head.value, head.updateTime)) return 'kept';
    if (head.value.state === 'erasing') return 'erasing';
    const generation = head.value.generation + 1;
    const now = clock.now();
    await store.commit([
      {
        op: 'update',
        path: headPath(conversationId),
        fields: {
          state: 'erasing',
          generation,
          changedIn: generation,
          updateTime: now,
          compactionNeeded: {},
        },
        remove: ['open', 'queue', 'pendingErasure'],
        guard: { updateTime: head.updateTime },
      },
      ...(await closingWrites(store, {
        conversationId,
        head: head.value,
        now,
        keepsAnswers: false,
      })),
      { op: 'delete', path: compactionJobPath(conversationId) },
      { op: 'delete', path: statusPath(conversationId) },
    ]);
    return 'erasing';
  });
}
