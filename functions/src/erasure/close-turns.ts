import { readTurnDocuments } from '#shared/conversation/context/read-conversation.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { isTerminal } from '#shared/conversation/documents/turn.ts';
import { queueSeqs } from '#shared/conversation/start-decision.ts';
import {
  abandonedFields,
  endAbandonedWrites,
  readPartialAnswer,
} from '#shared/conversation/writes/abandoned-turns.ts';
import type { DocumentStore, Write } from '#shared/ports/ports.ts';
import { firstFrameId } from '#shared/wire/frame-ids.ts';
import { meterCounting } from '../config/conversation-policy.ts';

/** The turns that run or wait: the open one and the queue behind it. */
const unfinishedSeqs = (conversation: Conversation): number[] => [
  ...new Set([...(conversation.open ? [conversation.open.seq] : []), ...queueSeqs(conversation)]),
];

/** Turns that end with their conversation: the writes, and what the conversation document says of it. */
interface ClosedTurns {
  writes: Write[];
  fields: Pick<Conversation, 'appendsUntil'>;
}

/**
 * Ends every turn that runs or waits, each under its own update time: its producer finds it lost and
 * stops, or cannot renew its lease. `keepsAnswers`: what one had said and stored so far stays, as a cancellation leaves
 * it. For the batch that ends the conversation itself, which takes `open` and `queue` off the conversation document.
 */
export async function closeTurns(
  store: Pick<DocumentStore, 'get' | 'query'>,
  target: { conversationId: string; conversation: Conversation; now: Date; keepsAnswers: boolean },
): Promise<ClosedTurns> {
  const { conversationId, conversation, now } = target;
  const turns = await readTurnDocuments(store, conversationId, unfinishedSeqs(conversation));
  const counting = meterCounting(conversation);
  const writes: Write[] = [];
  let { appendsUntil } = conversation;
  for (const turn of turns) {
    if (!turn || isTerminal(turn.value.state)) continue;
    const { state, attempt, leaseUntil } = turn.value;
    const isAppended = state === 'running' && leaseUntil > now;
    if (isAppended && leaseUntil > (appendsUntil ?? now)) appendsUntil = leaseUntil;
    const partial = target.keepsAnswers
      ? await readPartialAnswer(store, { conversationId, turn, counting })
      : undefined;
    const shownThrough = isAppended ? (partial?.throughId ?? firstFrameId(attempt) - 1) : undefined;
    const end = { state: 'cancelled', partial, shownThrough } as const;
    writes.push(
      ...endAbandonedWrites(conversationId, {
        ...abandonedFields(turn, now),
        ...(!target.keepsAnswers && { rounds: undefined }),
        end,
        now,
      }),
    );
  }
  return { writes, fields: appendsUntil ? { appendsUntil } : {} };
}
