import { abandonedFields } from '#shared/conversation/writes/end-abandoned.ts';
import { isHeld, isInTheWay } from '#shared/conversation/decisions/queue-decision.ts';
import { isTerminal, type TurnDocument } from '#shared/conversation/documents/turn.ts';
import { requestCancel } from '../finish/cancel-turn.ts';
import { closeAbandonedTurn } from '../finish/close-turn.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { StartState } from '../start/read-start.ts';

/** An abandoned turn, or one that waits for the app, whose tools have done something. */
const hasDone = ({ value }: TurnDocument, now: Date) =>
  !isTerminal(value.state) && value.rounds !== undefined && !isInTheWay(value, now);

/**
 * Ends turns before another one begins whose answers the next prompt has to show: an abandoned one whose user
 * had asked to stop it, with what it had said; and one with tool calls that nobody goes on with. Whether there
 * was one; then what was read is no longer true. Throws what `requestCancel` throws, GuardLostError.
 */
export async function endStopped(
  dependencies: ChatDependencies,
  conversationId: string,
  { known, open, facts, conversation }: StartState,
): Promise<boolean> {
  const stopped = [known?.value, open?.value].find(
    (turn) =>
      turn?.state === 'running' && turn.cancelRequested === true && !isHeld(turn, facts.now),
  );
  if (stopped) {
    await requestCancel(dependencies, { conversationId, seq: stopped.seq });
    return true;
  }
  const isOwn = open !== undefined && open.value.seq === known?.value.seq;
  if (!open || !conversation || isOwn || !hasDone(open, facts.now)) return false;
  const abandoned = abandonedFields(open, dependencies.clock.now());
  await closeAbandonedTurn(dependencies, { conversationId, conversation, abandoned });
  return true;
}
