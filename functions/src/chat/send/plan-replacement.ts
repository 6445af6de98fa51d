import { compactionNeed } from '../../../../shared/compaction/crossing.ts';
import type { Head } from '../../../../shared/conversation/head.ts';
import type { History } from '../../../../shared/conversation/history.ts';
import { contextTokens } from '../../../../shared/conversation/meter.ts';
import { continuedHistory, endsBefore } from '../../../../shared/conversation/next-generation.ts';
import { firstTailSeq, readTurnRange } from '../../../../shared/conversation/read-conversation.ts';
import type { Replacement } from '../../../../shared/conversation/replacement-writes.ts';
import { isTerminal, type Turn } from '../../../../shared/conversation/turn.ts';
import { policyOf } from '../../conversation-policy.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { newestHistoryThrough } from '../context/find-history.ts';

export interface PlannedReplacement extends Replacement {
  /** The head as the batch leaves it. */
  headAfter: Head;
  /** Terminal turns of the new context, all before the replaced ones. */
  turns: Turn[];
}

interface Asked {
  conversationId: string;
  head: Head;
  /** Of the present generation. */
  history: History | undefined;
  /** The tail of the present generation. */
  turns: readonly Turn[];
  /** First turn to be replaced. */
  fromSeq: number;
  /** Nonce of the writer. */
  by: string;
}

/** The present history, or, where that holds one of the replaced turns, the newest earlier one that does not. */
const historyBefore = async (
  dependencies: ChatDependencies,
  { conversationId, head, history, fromSeq }: Asked,
): Promise<History | undefined> =>
  history && endsBefore(history, fromSeq)
    ? history
    : newestHistoryThrough(dependencies, { conversationId, head }, fromSeq - 1);

const coveredNothing = { seq: 0, contentIndex: 0 };

/** The tail after `source` up to the turn before the replaced ones, as the present generation reads it. */
async function tailAfter(
  dependencies: ChatDependencies,
  { conversationId, head, fromSeq }: Asked,
  source: History | undefined,
): Promise<Turn[]> {
  const coveredThrough = source?.coveredThrough ?? coveredNothing;
  const turns = await readTurnRange(dependencies, {
    conversationId,
    head,
    fromSeq: firstTailSeq({ ...head, coveredThrough }),
    toSeq: fromSeq - 1,
  });
  return turns.filter(({ state }) => isTerminal(state));
}

/** Turns that were folded stand verbatim again: they may need folding at once. */
function needAfter(
  dependencies: ChatDependencies,
  after: { head: Head; history: History; tokens: number },
): Replacement['need'] {
  const { head, history, tokens } = after;
  return compactionNeed({
    head,
    history,
    meter: { ...head.context, tokens },
    isOverflow: false,
    policy: policyOf(dependencies.config, head),
    requestId: dependencies.randomness.uuid(),
    now: dependencies.clock.now(),
  });
}

/**
 * What it takes to put a new turn in the place of the turns from `fromSeq` on: the next generation, made of
 * the present history or, where that holds one of them, of the newest earlier one that does not.
 */
export async function planReplacement(
  dependencies: ChatDependencies,
  asked: Asked,
): Promise<PlannedReplacement> {
  const { head, history: present, fromSeq, by } = asked;
  const source = await historyBefore(dependencies, asked);
  const turns = await tailAfter(dependencies, asked, source);
  const generation = head.generation + 1;
  const coveredThrough = source?.coveredThrough ?? coveredNothing;
  const moved = { ...head, generation, coveredThrough, changedIn: generation };
  const masked = (source?.masks ?? []).map(({ seq }) => seq).filter((seq) => seq >= fromSeq);
  const continued = (afterTokens: number) =>
    continuedHistory({
      head,
      source,
      state: 'CHANGED',
      changedSeqs: masked,
      changedFromSeq: fromSeq,
      requestId: by,
      by,
      now: dependencies.clock.now(),
      beforeTokens: contextTokens({ head, history: present, turns: asked.turns }).tokens,
      afterTokens,
    });
  const { tokens } = contextTokens({ head: moved, history: continued(0), turns });
  // Compaction re-arms on tokens beyond those that the last summary left.
  const history = continued(Math.min(source?.afterTokens ?? 0, tokens));
  const isOlder = source?.generation !== present?.generation;
  const need = isOlder ? needAfter(dependencies, { head: moved, history, tokens }) : undefined;
  const headAfter = need
    ? { ...moved, compactionNeeded: { ...moved.compactionNeeded, auto: need } }
    : moved;
  return { fromSeq, history, turns, headAfter, ...(need && { need }) };
}
