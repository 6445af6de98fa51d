import { isHeld } from '../../../../shared/conversation/queue-decision.ts';
import { requestCancel } from '../answer/cancel-turn.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import type { StartState } from './read-start.ts';

/**
 * Ends an abandoned turn whose user had asked to stop it: with what it had said, which nobody but itself
 * may end it with. Whether there was one; then what was read is no longer true.
 * Throws what `requestCancel` throws.
 */
export async function endStopped(
  dependencies: ChatDependencies,
  conversationId: string,
  { known, open, facts }: StartState,
): Promise<boolean> {
  const stopped = [known?.value, open?.value].find(
    (turn) =>
      turn?.state === 'running' && turn.cancelRequested === true && !isHeld(turn, facts.now),
  );
  if (!stopped) return false;
  await requestCancel(dependencies, { conversationId, seq: stopped.seq });
  return true;
}
