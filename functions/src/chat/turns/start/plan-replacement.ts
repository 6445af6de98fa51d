import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { requestAfterChange } from '#functions/chat/context/change-generation.ts';
import { continueHistory } from '#functions/context/continue-history.ts';
import { selectOutputForms } from '#functions/context/output-forms.ts';
import {
  newestHistoryThrough,
  readableHistory,
} from '#shared/conversation/context/find-history.ts';
import { contextTokens } from '#shared/conversation/context/meter.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { withoutPinsFrom } from '#shared/conversation/pins/pins.ts';
import { endsBefore, rearmsFrom } from '#shared/conversation/writes/next-generation.ts';
import { withoutTurns } from '#shared/conversation/writes/repair-history.ts';
import type { Replacement } from '#shared/conversation/writes/replacement-writes.ts';

/** Loaded when an edit needs it: it brings the finders of facts, which no message needs. */
const loadRendering = () => import('#functions/context/snapshot-rendering.ts');

export interface PlannedReplacement extends Replacement {
  /** The conversation document as the batch leaves it. */
  conversationAfter: Conversation;
  /** Terminal turns of the new context, all before the replaced ones. */
  turns: Turn[];
}

interface Asked {
  conversationId: string;
  conversation: Conversation;
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
  { conversationId, conversation, history, fromSeq }: Asked,
): Promise<History | undefined> {
  const target = { conversationId, conversation };
  const present = await readableHistory(dependencies, target, history);
  if (!present || endsBefore(present, fromSeq)) return present;
  const { createRenderer } = await loadRendering();
  const render = createRenderer(dependencies.config, conversation);
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
  const { conversation, history: present, fromSeq, by } = asked;
  const source = await historyBefore(dependencies, asked);
  const masked = (source?.masks ?? []).map(({ seq }) => seq);
  const pins = withoutPinsFrom(conversation.pins, (seq) => seq >= fromSeq);
  const left = { ...asked, conversation: { ...conversation, pins } };
  const next = await continueHistory(dependencies, left, {
    source,
    present: contextTokens(
      { conversation, history: present, turns: asked.turns },
      selectOutputForms(dependencies, conversation),
    ),
    toSeq: fromSeq - 1,
    state: 'CHANGED',
    changedSeqs: masked.filter((seq) => seq >= fromSeq),
    changedFromSeq: fromSeq,
    requestId: by,
    by,
    afterTokens: (tokens) =>
      rearmsFrom({ source, present, declined: conversation.compactionRequests.declined, tokens }),
  });
  const { history, turns, tokens, conversationAfter } = next;
  // Turns that were folded stand verbatim again, or are to be read again: they may need folding at once.
  const isOther = source?.generation !== present?.generation || source?.mended === true;
  const compactionRequest = isOther
    ? requestAfterChange(dependencies, { conversation: conversationAfter, history, tokens })
    : undefined;
  const losesPins = pins.length < conversation.pins.length;
  const losesIndex = (conversation.indexedThrough ?? 0) >= fromSeq;
  const planned = {
    fromSeq,
    history,
    turns,
    conversationAfter,
    ...(losesPins && { pins }),
    ...(losesIndex && { indexedThrough: fromSeq - 1 }),
  };
  if (!compactionRequest) return planned;
  const compactionRequests = { ...conversationAfter.compactionRequests, auto: compactionRequest };
  return {
    ...planned,
    conversationAfter: { ...conversationAfter, compactionRequests },
    compactionRequest,
  };
}
