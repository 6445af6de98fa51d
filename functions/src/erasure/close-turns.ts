import type { Head } from '../../../shared/conversation/head.ts';
import { queueSeqs } from '../../../shared/conversation/queue-decision.ts';
import { readTurnDocuments } from '../../../shared/conversation/read-conversation.ts';
import { endAbandonedWrites } from '../../../shared/conversation/end-abandoned.ts';
import { isTerminal } from '../../../shared/conversation/turn.ts';
import type { DocumentStore, Write } from '../../../shared/ports.ts';

/** The turns that run or wait: the open one and the queue behind it. */
const unfinishedSeqs = (head: Head): number[] => [
  ...new Set([...(head.open ? [head.open.seq] : []), ...queueSeqs(head)]),
];

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
  const turns = await readTurnDocuments(store, conversationId, seqs);
  return turns.flatMap((turn) => {
    if (!turn || isTerminal(turn.value.state)) return [];
    const { value, updateTime } = turn;
    const end = { state: 'cancelled' } as const;
    return endAbandonedWrites(conversationId, { seq: value.seq, updateTime, end, now });
  });
}
