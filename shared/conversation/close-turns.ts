import type { DocumentStore, Write } from '../ports.ts';
import type { Head } from './head.ts';
import { turnPath } from './paths.ts';
import { readTurnDocument, isTerminal } from './turn.ts';

/** The turns that run or wait: the open one and the queue behind it. */
function unfinishedSeqs({ open, queue, lastSeq }: Head): number[] {
  const queued = queue
    ? Array.from({ length: Math.max(0, lastSeq - queue.first + 1) }, (_, i) => queue.first + i)
    : [];
  return [...new Set([...(open ? [open.seq] : []), ...queued])];
}

/**
 * Ends every turn that runs or waits, each under its own update time: its producer finds it lost and
 * stops. For the batch that ends the conversation itself, which takes `open` and `queue` off the head.
 */
export async function closingWrites(
  store: Pick<DocumentStore, 'get'>,
  { conversationId, head, now }: { conversationId: string; head: Head; now: Date },
): Promise<Write[]> {
  const seqs = unfinishedSeqs(head);
  if (seqs.length === 0) return [];
  const documents = await store.get(seqs.map((seq) => turnPath(conversationId, seq)));
  return documents.flatMap((document): Write[] => {
    const turn = document && readTurnDocument(conversationId, document);
    if (!turn || isTerminal(turn.value.state)) return [];
    return [
      {
        op: 'update',
        path: turnPath(conversationId, turn.value.seq),
        fields: { state: 'cancelled', producer: '', finishTime: now, inContext: false },
        guard: { updateTime: turn.updateTime },
      },
    ];
  });
}
