import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { isTerminal } from '#shared/conversation/documents/turn.ts';
import type { FinishBatch } from '#shared/conversation/writes/turn-writes.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { usageBeyond } from '../answer/add-usage.ts';
import type { BegunTurn } from '../start/begun-turn.ts';
import type { TurnAnswer } from '../store/turn-progress.ts';
import type { Attempt } from '../store/turn-store.ts';
import type { TurnWriter } from '../store/turn-writer.ts';

/** Whether the message of a turn has been counted: it has waited for the app before. */
const isCounted = ({ progress }: BegunTurn): boolean => progress.settled !== undefined;

/** Whether a message was answered: not by a failure. A pause counts, for many never go on. */
function isMessage(
  { state, inContext, usage }: Pick<FinishBatch, 'state' | 'inContext' | 'usage'>,
  { begun, isAsked }: { begun: BegunTurn; isAsked: boolean },
): boolean {
  if (isCounted(begun)) return false;
  switch (state) {
    case 'done':
    case 'awaiting_tool':
      return true;
    case 'cancelled':
      return isAsked && (inContext || usage !== undefined);
    case 'failed':
      return false;
  }
}

/** Charges what this attempt took of a turn whose end is stored; `isAsked`: the model was called. Never throws. */
export async function settleStored(
  { begun, answer, isAsked }: { begun: BegunTurn; answer: TurnAnswer; isAsked: boolean },
  batch: Pick<FinishBatch, 'state' | 'inContext' | 'usage'>,
): Promise<void> {
  const { usage } = batch;
  await begun.reservation.settle({
    usage,
    costMicros: usage?.costMicros,
    isMessage: isMessage(batch, { begun, isAsked }),
    isUnreported: answer.isUnreported,
    routing: begun.routingSpent,
  });
}

/** Whether another attempt goes on with the turn, or may; `gone`: it was erased in the meantime. */
async function standingOf(
  { store }: Pick<ChatDependencies, 'store'>,
  { conversationId, seq, attempt }: Attempt,
): Promise<'goesOn' | 'ended' | 'gone'> {
  try {
    const [turn] = await readTurns(store, conversationId, [seq]);
    if (!turn) return 'gone';
    const goesOn = turn.value.attempt > attempt || !isTerminal(turn.value.state);
    return goesOn ? 'goesOn' : 'ended';
  } catch {
    return 'goesOn';
  }
}

/**
 * Charges what this attempt took of a turn whose end it could not store: it was erased, deleted or taken over meanwhile,
 * or the store is away. Whoever goes on with the turn is charged for the rounds that are stored. Never throws.
 */
export async function settleUnstored(
  dependencies: Pick<ChatDependencies, 'store'>,
  turn: { begun: BegunTurn; answer: TurnAnswer; writer: Pick<TurnWriter, 'storedUsage'> },
): Promise<void> {
  const { begun, answer, writer } = turn;
  const standing = await standingOf(dependencies, begun.attempt);
  const goesOn = standing === 'goesOn';
  const usage = usageBeyond(answer.usage, goesOn ? writer.storedUsage() : begun.progress.settled);
  await begun.reservation.settle({
    usage,
    costMicros: usage?.costMicros,
    isMessage: !goesOn && !isCounted(begun) && (usage !== undefined || answer.contents.length > 0),
    isUnreported: answer.isUnreported,
    routing: begun.routingSpent,
    isGone: standing === 'gone',
  });
}
