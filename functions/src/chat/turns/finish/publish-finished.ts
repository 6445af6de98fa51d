import { addAfterwork, type ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { publishTurnFinished, publishTurnWaiting } from '#functions/events/publish-turn-event.ts';
import { turnId } from '#shared/conversation/documents/paths.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import type { FinishBatch } from '#shared/conversation/writes/turn-writes.ts';

/** What is told of a turn that came to rest; nothing of a pause without calls, which there is not. */
function telling(
  dependencies: ChatDependencies,
  { batch, turn, isAttended }: Rested,
): Promise<void> | undefined {
  const { conversationId, seq, attempt, state, error, rounds } = batch;
  const kind = turn.replaces === undefined ? ('message' as const) : ('replacement' as const);
  const event = { conversationId, turnId: turnId(seq), attempt, kind, isAttended };
  if (state !== 'awaiting_tool')
    return publishTurnFinished(dependencies, {
      ...event,
      state,
      ...(error && { reason: error.reason }),
    });
  return rounds && publishTurnWaiting(dependencies, { ...event, round: rounds.count });
}

interface Rested {
  batch: FinishBatch;
  turn: Pick<Turn, 'replaces'>;
  isAttended: boolean;
}

/**
 * Tells the events topic how a turn has ended, or that the app has something to do. The stream does not wait for it:
 * it is noted in `afterwork`, as what the request that is being served still has to do.
 */
export function publishFinished(dependencies: ChatDependencies, rested: Rested): void {
  const work = telling(dependencies, rested);
  if (work) addAfterwork(dependencies, work);
}
