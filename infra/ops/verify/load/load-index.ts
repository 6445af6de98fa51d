import { unpackSegment } from '#functions/recall/segment-document.ts';
import { recallPath } from '#shared/conversation/documents/paths.ts';
import { segmentNumber } from '#shared/recall/segment.ts';
import type { ReadStore } from '#infra/ops/pages.ts';
import type { StoredSegmentTurns } from './loaded.ts';

/**
 * The parts of the index of recall that the conversation document says are there, one read each. Throws
 * StoreUnavailableError.
 */
export async function loadIndex(
  store: ReadStore,
  conversationId: string,
  indexedThrough: number,
): Promise<StoredSegmentTurns[]> {
  const found: StoredSegmentTurns[] = [];
  for (let number = 1; number <= segmentNumber(indexedThrough); number++) {
    const path = recallPath(conversationId, number);
    const [document] = await store.get([path]);
    if (!document) {
      found.push({ path, number, throughSeq: undefined, seqs: [] });
      continue;
    }
    try {
      const { throughSeq, segment } = unpackSegment(document);
      const seqs = [...new Set(segment.passages.map(({ seq }) => seq))];
      found.push({ path, number, throughSeq, seqs });
    } catch {
      found.push({ path, number, throughSeq: undefined, seqs: [] });
    }
  }
  return found;
}
