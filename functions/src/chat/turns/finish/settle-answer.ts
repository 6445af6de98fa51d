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
  await begun.quota.reservation?.settle({
    usage,
    costMicros: usage?.costMicros,
    isMessage: isMessage(batch, { begun, isAsked }),
    isUnreported: answer.isUnreported,
  });
}

/** Whether another attempt goes on with the turn, or may: not where it was ended or erased in the meantime. */
async function isContinued(
  { store }: Pick<ChatDependencies, 'store'>,
  { conversationId, seq, attempt }: Attempt,
): Promise<boolean> {
  try {
    const [turn] = await readTurns(store, conversationId, [seq]);
    return turn !== undefined && (turn.value.attempt > attempt || !isTerminal(turn.value.state));
  } catch {
    return true;
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
  const { reservation } = begun.quota;
  if (!reservation) return;
  const goesOn = await isContinued(dependencies, begun.attempt);
  const usage = usageBeyond(answer.usage, goesOn ? writer.storedUsage() : begun.progress.settled);
  await reservation.settle({
    usage,
    costMicros: usage?.costMicros,
    isMessage: !goesOn && !isCounted(begun) && (usage !== undefined || answer.contents.length > 0),
    isUnreported: answer.isUnreported,
  });
}
