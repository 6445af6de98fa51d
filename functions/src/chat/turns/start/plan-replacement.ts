import { withoutTurns } from '#shared/compaction/snapshot/repair-history.ts';
import { newestHistoryThrough, trustedHistory } from '#shared/conversation/context/find-history.ts';
import type { Head } from '#shared/conversation/documents/head.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { contextTokens } from '#shared/conversation/context/meter.ts';
import { endsBefore, rearmsFrom } from '#shared/conversation/writes/next-generation.ts';
import { withoutPinsFrom } from '#shared/conversation/pins/pins.ts';
import type { Replacement } from '#shared/conversation/writes/replacement-writes.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { selectOutputForms, createRenderer } from '#functions/context/snapshot-rendering.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { continueHistory } from '#functions/chat/context/continue-history.ts';
import { needAfterChange } from '#functions/chat/context/need-after-change.ts';

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

/**
 * The present history without what came of the replaced turns, or, where nothing is left of it, the newest
 * earlier one that ends before them.
 */
async function historyBefore(
  dependencies: ChatDependencies,
  { conversationId, head, history, fromSeq }: Asked,
): Promise<History | undefined> {
  const target = { conversationId, head };
  const present = await trustedHistory(dependencies, target, history);
  if (!present || endsBefore(present, fromSeq)) return present;
  const render = createRenderer(dependencies.config, head);
  const mended = withoutTurns(present, { seqs: [], fromSeq }, render);
  if (mended.erased !== true) return mended;
  return newestHistoryThrough(dependencies, target, fromSeq - 1);
}

/**
 * What it takes to put a new turn in the place of the turns from `fromSeq` on: the next generation, made of
 * the present history without what came of them or, where nothing is left of it, of the newest earlier one
 * that ends before them.
 */
export async function planReplacement(
  dependencies: ChatDependencies,
  asked: Asked,
): Promise<PlannedReplacement> {
  const { head, history: present, fromSeq, by } = asked;
  const source = await historyBefore(dependencies, asked);
  const masked = (source?.masks ?? []).map(({ seq }) => seq);
  const pins = withoutPinsFrom(head.pins, (seq) => seq >= fromSeq);
  const left = { ...asked, head: { ...head, pins } };
  const next = await continueHistory(dependencies, left, {
    source,
    present: contextTokens(
      { head, history: present, turns: asked.turns },
      selectOutputForms(dependencies, head),
    ),
    toSeq: fromSeq - 1,
    state: 'CHANGED',
    changedSeqs: masked.filter((seq) => seq >= fromSeq),
    changedFromSeq: fromSeq,
    requestId: by,
    by,
    afterTokens: (tokens) =>
      rearmsFrom({ source, present, declined: head.compactionNeeded.declined, tokens }),
  });
  const { history, turns, tokens, headAfter } = next;
  // Turns that were folded stand verbatim again, or are to be read again: they may need folding at once.
  const isOther = source?.generation !== present?.generation || source?.mended === true;
  const need = isOther
    ? needAfterChange(dependencies, { head: headAfter, history, tokens })
    : undefined;
  const losesPins = pins.length < head.pins.length;
  const losesIndex = (head.indexedThrough ?? 0) >= fromSeq;
  const planned = {
    fromSeq,
    history,
    turns,
    headAfter,
    ...(losesPins && { pins }),
    ...(losesIndex && { indexedThrough: fromSeq - 1 }),
  };
  if (!need) return planned;
  const compactionNeeded = { ...headAfter.compactionNeeded, auto: need };
  return { ...planned, headAfter: { ...headAfter, compactionNeeded }, need };
}
