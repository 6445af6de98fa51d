import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { type ModelsConfig, callCostMicros } from '#functions/models/models-in-use.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { type TurnUsage, isTerminal } from '#shared/conversation/documents/turn.ts';
import type { TurnEnd } from '#shared/conversation/writes/turn-writes.ts';
import { reportedCall } from '#shared/models/find-price.ts';
import type { ModelUsage } from '#shared/ports/ports.ts';
import type { TurnWriter } from '../answer/turn-writer.ts';
import type { Attempt, BegunTurn, TurnAnswer } from '../start/begun-turn.ts';

/** What one call reported, with what it cost. */
export const pricedUsage = (config: ModelsConfig, model: string, usage: ModelUsage): TurnUsage => ({
  ...usage,
  costMicros: callCostMicros(config, reportedCall(model, usage)),
});

const combined = (
  sum: TurnUsage,
  other: TurnUsage,
  combine: (one: number, two: number) => number,
): TurnUsage => ({
  promptTokens: combine(sum.promptTokens, other.promptTokens),
  cachedTokens: combine(sum.cachedTokens, other.cachedTokens),
  outputTokens: combine(sum.outputTokens, other.outputTokens),
  thoughtsTokens: combine(sum.thoughtsTokens, other.thoughtsTokens),
  ...((sum.toolTokens !== undefined || other.toolTokens !== undefined) && {
    toolTokens: combine(sum.toolTokens ?? 0, other.toolTokens ?? 0),
  }),
  ...((sum.searches !== undefined || other.searches !== undefined) && {
    searches: combine(sum.searches ?? 0, other.searches ?? 0),
  }),
  ...(sum.costMicros !== undefined &&
    other.costMicros !== undefined && {
      costMicros: combine(sum.costMicros, other.costMicros),
    }),
});

/** The bill of several calls; without a cost as soon as that of one is not known. */
export const addUsage = (sum: TurnUsage | undefined, more: TurnUsage | undefined) =>
  sum && more ? combined(sum, more, (one, two) => one + two) : (sum ?? more);

/** What of a bill has not been charged yet. */
export const usageBeyond = (usage: TurnUsage | undefined, settled: TurnUsage | undefined) =>
  usage && settled ? combined(usage, settled, (one, two) => Math.max(0, one - two)) : usage;

/** Whether the message of a turn has been counted: it has waited for the app before. */
const isCounted = ({ progress }: BegunTurn): boolean => progress.settled !== undefined;

/** Whether a message was answered: not by a failure. A pause counts, for many never go on. */
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
