import { turnPath } from '#shared/conversation/documents/paths.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { mayBeCommitted } from '#shared/errors.ts';
import type { Write } from '#shared/ports/ports.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';

/**
 * Commits a batch that gives a turn to `producer`, and returns the turn's update time. After a lost reply,
 * or a client that repeated the commit by itself, the turn stands there with that nonce, which no other
 * batch writes: that is success. Throws GuardLostError, StoreUnavailableError.
 */
export async function commitStart(
  dependencies: Pick<ChatDependencies, 'store'>,
  start: { conversationId: string; seq: number; producer: string; writes: readonly Write[] },
): Promise<string> {
  const { conversationId, seq, writes } = start;
  const path = turnPath(conversationId, seq);
  try {
    const updateTimes = await dependencies.store.commit(writes);
    return updateTimes[writes.findIndex((write) => write.path === path)] ?? '';
  } catch (error) {
    if (!mayBeCommitted(error)) throw error;
    const [turn] = await readTurns(dependencies.store, conversationId, [seq]);
    if (turn?.value.producer === start.producer) return turn.updateTime;
    throw error;
  }
}
