import { conversationPath, recallPath } from '#shared/conversation/documents/paths.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { firstOfSegment, lastOfSegment, segmentNumber } from '#shared/recall/segment.ts';
import { retryWhenLost } from '../lib/retry.ts';
import { indexTurns, type IndexDependencies } from './index-turns.ts';
import { foldedThrough } from './read-index.ts';
import { unpackSegment } from './segment-document.ts';

/** The first segment up to `indexedThrough` that is missing, cannot be read or ends too early; undefined: all are whole. */
async function firstBrokenSegment(
  store: Pick<DocumentStore, 'get'>,
  conversationId: string,
  indexedThrough: number,
): Promise<number | undefined> {
  for (let number = 1; number <= segmentNumber(indexedThrough); number++) {
    const [document] = await store.get([recallPath(conversationId, number)]);
    const wanted = Math.min(lastOfSegment(number), indexedThrough);
    try {
      if (!document || unpackSegment(document).throughSeq < wanted) return number;
    } catch {
      return number;
    }
  }
  return undefined;
}

/** Takes back what the conversation document says of the index, to before the first segment that is broken. */
async function takeBack(dependencies: IndexDependencies, conversationId: string): Promise<void> {
  const { store, clock } = dependencies;
  await retryWhenLost(clock, async () => {
    const conversation = await readConversation(store, conversationId);
    const indexedThrough = conversation?.value.indexedThrough ?? 0;
    if (!conversation || indexedThrough === 0) return;
    const broken = await firstBrokenSegment(store, conversationId, indexedThrough);
    if (broken === undefined) return;
    await store.commit([
      {
        op: 'update',
        path: conversationPath(conversationId),
        fields: { indexedThrough: firstOfSegment(broken) - 1 },
        guard: { updateTime: conversation.updateTime },
      },
    ]);
  });
}

/**
 * Puts all folded turns of a conversation into the index of recall; `isBroken`: what is there is looked at first, and
 * made anew from the first part that is missing or cannot be read. May be repeated. Throws GuardLostError,
 * StoreUnavailableError, and the signal's reason.
 */
export async function indexConversation(
  dependencies: IndexDependencies,
  target: { conversationId: string; isBroken: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { conversationId, isBroken } = target;
  if (isBroken) await takeBack(dependencies, conversationId);
  const conversation = await readConversation(dependencies.store, conversationId);
  if (!conversation) return;
  const throughSeq = foldedThrough(conversation.value);
  const indexedThrough = await indexTurns(dependencies, { conversationId, throughSeq, signal });
  dependencies.logger.log('INFO', 'recall_indexed', { conversationId, indexedThrough });
}
