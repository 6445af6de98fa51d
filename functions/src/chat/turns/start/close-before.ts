import { isHeld, isInTheWay } from '#shared/conversation/start-decision.ts';
import {
  abandonedFields,
  closeAbandonedWrites,
  toClosingTurn,
} from '#shared/conversation/writes/abandoned-turns.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { isTerminal } from '#shared/conversation/documents/turn.ts';
import { requestCancel } from '../finish/cancel-turn.ts';
import { closeOpenTurn, tellAbandoned } from '../finish/close-turn.ts';
import { type StartState, knownTurn, storedConversation } from './read-start.ts';

/**
 * Closes, in a batch of its own, a turn whose words or tool calls the next prompt must show: an abandoned turn whose user
 * had asked to stop it, or an open one with tool calls with which no producer goes on. True: read again. Throws what
 * `requestCancel` throws, GuardLostError.
 */
export async function closeBeforeBeginning(
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
  if (!open || !conversation || open.value.seq === known?.value.seq) return false;
  // The tools of an abandoned turn, or of one that waits for the app, have done something.
  const { state, rounds } = open.value;
  const hasDone = !isTerminal(state) && rounds !== undefined && !isInTheWay(open.value, facts.now);
  if (!hasDone) return false;
  const closing = toClosingTurn(abandonedFields(open, dependencies.clock.now()));
  await closeOpenTurn(dependencies, { conversationId, conversation, turn: open, closing });
  return true;
}

/** Closes a turn that has had all its attempts, or has waited for the app for too long. Throws GuardLostError. */
export async function closeGivenUp(
  dependencies: ChatDependencies,
  conversationId: string,
  state: StartState,
): Promise<void> {
  const conversation = storedConversation(state);
  const known = knownTurn(state);
  const now = dependencies.clock.now();
  const abandoned = abandonedFields(known, now);
  if (conversation.value.open?.seq === known.value.seq)
    return closeOpenTurn(dependencies, {
      conversationId,
      conversation,
      turn: known,
      closing: toClosingTurn(abandoned),
    });
  await dependencies.store.commit(
    closeAbandonedWrites(conversationId, { abandoned: [abandoned], now }),
  );
  tellAbandoned(dependencies, conversationId, [known]);
}
