import {
  fittingSegment,
  unpackSegment,
  type StoredSegment,
} from '#functions/recall/segment-document.ts';
import { recallPath } from '#shared/conversation/documents/paths.ts';
import type { DocumentStore, StoredDocument } from '#shared/ports/ports.ts';
import { segmentNumber } from '#shared/recall/segment.ts';

function readable(document: StoredDocument): StoredSegment | undefined {
  try {
    return unpackSegment(document);
  } catch {
    return undefined;
  }
}

/**
 * Takes erased turns out of the index of recall: their passages, and every word that only they had. A part that cannot
 * be read may hold anything and goes whole; it is made anew when it is missed. May stop anywhere and be repeated. Throws
 * GuardLostError, StoreUnavailableError.
 */
export async function cleanIndex(
  store: Pick<DocumentStore, 'get' | 'commit'>,
  erased: { conversationId: string; seqs: readonly number[] },
): Promise<void> {
  const { conversationId } = erased;
  const gone = new Set(erased.seqs);
  const numbers = [...new Set(erased.seqs.map(segmentNumber))];
  for (const number of numbers) {
    const path = recallPath(conversationId, number);
    const [document] = await store.get([path]);
    if (!document) continue;
    const guard = { updateTime: document.updateTime };
    const stored = readable(document);
    if (!stored) {
      await store.commit([{ op: 'delete', path, guard }]);
      continue;
    }
    const left = stored.segment.passages.filter(({ seq }) => !gone.has(seq));
    if (left.length === stored.segment.passages.length) continue;
    const fields = fittingSegment(left, stored.throughSeq);
    await store.commit([{ op: 'update', path, fields, guard }]);
  }
}
