import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { liveTurnKey } from '../live/live-turn.ts';

/** How often a turn that somebody waits for is looked at. */
const AWAITED_LOOK_INTERVAL_MS = 250;

/**
 * Resolves after a look's interval, or at once when the turn ends that this instance is answering, or the
 * process does.
 */
export async function untilNextLook(
  dependencies: Pick<ChatDependencies, 'clock' | 'liveTurns' | 'shutdown'>,
  turn: { conversationId: string; seq: number },
): Promise<void> {
  const live = dependencies.liveTurns.get(liveTurnKey(turn.conversationId, turn.seq));
  const ended = new AbortController();
  const stop = () => ended.abort();
  live?.result.then(stop, stop);
  const signal = AbortSignal.any([ended.signal, dependencies.shutdown]);
  await dependencies.clock.wait(AWAITED_LOOK_INTERVAL_MS, signal);
}
