import type { Head } from '#shared/conversation/documents/head.ts';
import { queueSeqs } from '#shared/conversation/decisions/queue-decision.ts';
import { readTurnDocuments } from '#shared/conversation/context/read-conversation.ts';
import { abandonedFields, endAbandonedWrites } from '#shared/conversation/writes/end-abandoned.ts';
import { readPartialAnswer } from '#shared/conversation/repair/partial-answer.ts';
import { isTerminal } from '#shared/conversation/documents/turn.ts';
import type { DocumentStore, Write } from '#shared/ports/ports.ts';
import { meterCounting } from '../config/conversation-policy.ts';

/** The turns that run or wait: the open one and the queue behind it. */
const unfinishedSeqs = (head: Head): number[] => [
  ...new Set([...(head.open ? [head.open.seq] : []), ...queueSeqs(head)]),
];

/**
 * Ends every turn that runs or waits, each under its own update time: its producer finds it lost and
 * stops. `keepsAnswers`: what one had said and stored so far stays, as a cancellation leaves it. For the
 * batch that ends the conversation itself, which takes `open` and `queue` off the head.
 */
export async function closingWrites(
  store: Pick<DocumentStore, 'get'>,
  target: { conversationId: string; head: Head; now: Date; keepsAnswers: boolean },
): Promise<Write[]> {
  const { conversationId, head, now } = target;
  const seqs = unfinishedSeqs(head);
  if (seqs.length === 0) return [];
  const turns = await readTurnDocuments(store, conversationId, seqs);
  const counting = meterCounting(head);
  const writes: Write[] = [];
  for (const turn of turns) {
    if (!turn || isTerminal(turn.value.state)) continue;
    const partial = target.keepsAnswers
      ? await readPartialAnswer(store, { conversationId, turn, counting })
      : undefined;
    const end = { state: 'cancelled', partial } as const;
    writes.push(
      ...endAbandonedWrites(conversationId, {
        ...abandonedFields(turn, now),
        ...(!target.keepsAnswers && { rounds: undefined }),
        end,
        now,
      }),
    );
  }
  return writes;
}
