import { readTurnDocuments } from '#shared/conversation/context/read-conversation.ts';
import { isTerminal } from '#shared/conversation/documents/turn.ts';
import { requestCancel } from '../finish/cancel-turn.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { busyError } from '../send/send-errors.ts';
import { shuttingDownError } from '../stream/stream-cut.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { untilNextLook } from './watch-turns.ts';

/** A producer that lives obeys within a second; one that does not is noticed by its lease. */
const OBEDIENCE_MS = 5_000;

/**
 * Cancels the turns that stand in a new message's way, those that wait first, so that none of them begins
 * meanwhile. Resolves when each has ended or has been abandoned; nothing of the new message is stored by
 * then. Throws TURN_IN_PROGRESS when one goes on for longer than a lease.
 */
export async function interruptTurns(
  dependencies: ChatDependencies,
  conversationId: string,
  turns: { seqs: readonly number[]; retryAfterMs: number },
): Promise<void> {
  const { clock, config } = dependencies;
  const { seqs, retryAfterMs } = turns;
  for (const seq of seqs) await requestCancel(dependencies, { conversationId, seq });
  await passCrashPoint(dependencies, 'turns-interrupted');
  const endMs = clock.now().getTime() + config.TURN_LEASE_MS + OBEDIENCE_MS;
  for (;;) {
    const found = await readTurnDocuments(dependencies.store, conversationId, seqs);
    const working = found
      .filter((turn) => turn !== undefined)
      .map(({ value }) => value)
      .find(({ state, leaseUntil }) => !isTerminal(state) && leaseUntil > clock.now());
    if (!working) return;
    if (dependencies.shutdown.aborted) throw shuttingDownError('an interruption was given up');
    const { seq } = working;
    if (clock.now().getTime() >= endMs) throw busyError(conversationId, { seq, retryAfterMs });
    await untilNextLook(dependencies, { conversationId, seq });
  }
}
