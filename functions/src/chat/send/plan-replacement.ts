import type { Head } from '../../../../shared/conversation/head.ts';
import type { History } from '../../../../shared/conversation/history.ts';
import { contextTokens } from '../../../../shared/conversation/meter.ts';
import { endsBefore, rearmsFrom } from '../../../../shared/conversation/next-generation.ts';
import type { Replacement } from '../../../../shared/conversation/replacement-writes.ts';
import type { Turn } from '../../../../shared/conversation/turn.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { continueHistory } from '../context/continue-history.ts';
import { newestHistoryThrough } from '../context/find-history.ts';
import { needAfterChange } from '../context/need-after-change.ts';

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
  const masked = (source?.masks ?? []).map(({ seq }) => seq);
  const next = await continueHistory(dependencies, asked, {
    source,
    present: contextTokens({ head, history: present, turns: asked.turns }),
    toSeq: fromSeq - 1,
    state: 'CHANGED',
    changedSeqs: masked.filter((seq) => seq >= fromSeq),
    changedFromSeq: fromSeq,
    requestId: by,
    by,
    afterTokens: (tokens) => rearmsFrom({ source, present, tokens }),
  });
  const { history, turns, tokens, headAfter } = next;
  // Turns that were folded stand verbatim again: they may need folding at once.
  const hasFallenBack = source?.generation !== present?.generation;
  const need = hasFallenBack
    ? needAfterChange(dependencies, { head: headAfter, history, tokens })
    : undefined;
  if (!need) return { fromSeq, history, turns, headAfter };
  const compactionNeeded = { ...headAfter.compactionNeeded, auto: need };
  return { fromSeq, history, turns, headAfter: { ...headAfter, compactionNeeded }, need };
}
