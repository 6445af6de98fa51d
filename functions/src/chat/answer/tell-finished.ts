import { turnId } from '../../../../shared/conversation/paths.ts';
import type { FinishBatch } from '../../../../shared/conversation/turn-writes.ts';
import { tellTurnFinished } from '../../tell-turn.ts';
import type { BegunTurn } from '../send/begin-turn.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';

/**
 * Tells the events topic how a turn has ended. The stream does not wait for it: it is noted in `afterwork`,
 * as what the request that is being served still has to do.
 */
export function tellFinished(
  dependencies: ChatDependencies,
  ended: { batch: FinishBatch; begun: Pick<BegunTurn, 'replaces'>; isAttended: boolean },
): void {
  const { batch, begun, isAttended } = ended;
  const { conversationId, seq, attempt, state, error } = batch;
  // It has not: the app has something to do.
  if (state === 'awaiting_tool') return;
  const { afterwork } = dependencies;
  const work = tellTurnFinished(dependencies, {
    conversationId,
    turnId: turnId(seq),
    attempt,
    state,
    kind: begun.replaces === undefined ? 'message' : 'replacement',
    ...(error && { reason: error.reason }),
    isAttended,
  }).finally(() => afterwork.delete(work));
  afterwork.add(work);
}
