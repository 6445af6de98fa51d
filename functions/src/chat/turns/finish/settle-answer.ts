import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { isTerminal } from '#shared/conversation/documents/turn.ts';
import type { TurnEnd } from '#shared/conversation/writes/turn-writes.ts';
import type { TurnWriter } from '../answer/turn-writer.ts';
import type { Attempt, BegunTurn, TurnAnswer } from '../start/begun-turn.ts';
import { usageBeyond } from '../usage.ts';

/** Whether the message of a turn has been counted: that was done when the turn began to wait for the app. */
const isCounted = ({ progress }: BegunTurn): boolean => progress.isCounted === true;

/** Whether a message counts as answered: not by a failure. A pause counts, for many turns never go on after one. */
function isAnswered(
  { state, inContext, usage }: Pick<TurnEnd, 'state' | 'inContext' | 'usage'>,
  isAsked: boolean,
): boolean {
  if (state === 'cancelled') return isAsked && (inContext || usage !== undefined);
  return state !== 'failed';
}

/** Charges what this attempt took of a turn whose end is stored; `isAsked`: the model was called. Never throws. */
export async function settleStored(
  { begun, answer, isAsked }: { begun: BegunTurn; answer: TurnAnswer; isAsked: boolean },
  end: Pick<TurnEnd, 'state' | 'inContext' | 'usage'>,
): Promise<void> {
  const { usage } = end;
  await begun.reservation.settle({
    usage,
    costMicros: usage?.costMicros,
    isMessage: !isCounted(begun) && isAnswered(end, isAsked),
    isUnreported: answer.isUnreported,
    routing: begun.routingSpent,
  });
}

/** What became of a turn: another attempt goes on with it, or may; it has ended; or it was erased (`gone`). */
async function readOutcome(
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
 * Charges what this attempt took of a turn whose end it could not store: the turn was erased, deleted or taken over
 * meanwhile, or the store is away. The attempt that goes on with the turn charges the stored rounds. Never throws.
 */
export async function settleUnstored(
  dependencies: Pick<ChatDependencies, 'store'>,
  turn: { begun: BegunTurn; answer: TurnAnswer; writer: Pick<TurnWriter, 'storedUsage'> },
): Promise<void> {
  const { begun, answer, writer } = turn;
  const outcome = await readOutcome(dependencies, begun.attempt);
  const goesOn = outcome === 'goesOn';
  const usage = usageBeyond(answer.usage, goesOn ? writer.storedUsage() : begun.progress.settled);
  await begun.reservation.settle({
    usage,
    costMicros: usage?.costMicros,
    isMessage: !goesOn && !isCounted(begun) && (usage !== undefined || answer.contents.length > 0),
    isUnreported: answer.isUnreported,
    routing: begun.routingSpent,
    isGone: outcome === 'gone',
  });
}
