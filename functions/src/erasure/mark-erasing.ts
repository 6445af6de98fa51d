import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import {
  compactionJobPath,
  conversationPath,
  statusPath,
} from '#shared/conversation/documents/paths.ts';
import { readAnyConversation } from '#shared/conversation/context/read-conversation.ts';
import type { Clock, DocumentStore } from '#shared/ports/ports.ts';
import { closeTurns } from './close-turns.ts';
import { retryWhenLost } from '../lib/retry.ts';

/**
 * The first step of erasing a conversation, one batch: the conversation document is `erasing` and takes a generation,
 * open turns end, the compaction job and the status go. From here on every guard of chat and worker fails, so nothing
 * new appears below it but chunks of a producer that has not noticed, until `appendsUntil`. `isWanted` is asked again with every reading, and may throw. `erasing`: it is marked, now or
 * before. `kept`: it is not wanted. `gone`: there is none, or a tombstone. Throws GuardLostError when others won every
 * try, StoreUnavailableError.
 */
export async function markErasing(
  { store, clock }: { store: Pick<DocumentStore, 'get' | 'query' | 'commit'>; clock: Clock },
  conversationId: string,
  isWanted: (conversation: Conversation, updateTime: string) => boolean,
): Promise<'erasing' | 'kept' | 'gone'> {
  return retryWhenLost(clock, async () => {
    const conversation = await readAnyConversation(store, conversationId);
    if (!conversation || conversation.value.state === 'erased') return 'gone';
    if (!isWanted(conversation.value, conversation.updateTime)) return 'kept';
    if (conversation.value.state === 'erasing') return 'erasing';
    const generation = conversation.value.generation + 1;
    const now = clock.now();
    const closed = await closeTurns(store, {
      conversationId,
      conversation: conversation.value,
      now,
      keepsAnswers: false,
    });
    await store.commit([
      {
        op: 'update',
        path: conversationPath(conversationId),
        fields: {
          state: 'erasing',
          generation,
          changedIn: generation,
          updateTime: now,
          compactionRequests: {},
          ...closed.fields,
        },
        remove: ['open', 'queue', 'pendingErasure'],
        guard: { updateTime: conversation.updateTime },
      },
      ...closed.writes,
      { op: 'delete', path: compactionJobPath(conversationId) },
      { op: 'delete', path: statusPath(conversationId) },
    ]);
    return 'erasing';
  });
}
