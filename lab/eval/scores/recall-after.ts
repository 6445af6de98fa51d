import { recallForTurn } from '#functions/chat/features/search/recall-for-turn.ts';
import { loadIndex } from '#functions/recall/read-index.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { noCache, readConversation } from '#shared/conversation/context/read-conversation.ts';
import type { EvalBench } from '../compact/bench.ts';

/** What automatic recall puts before a message; '' for nothing. */
export type RecallBefore = (message: string) => Promise<string>;

/** Recall as a turn has it whose context is a snapshot without a tail. `recallTokens`: what it may bring. */
export async function recallAfter(
  { dependencies }: EvalBench,
  { conversationId, history }: { conversationId: string; history: History },
  recallTokens: number,
): Promise<RecallBefore> {
  const { store, clock, logger } = dependencies;
  const conversation = (await readConversation(store, conversationId))?.value;
  if (!conversation) throw new Error(`there is no conversation ${conversationId}`);
  const source = { store, cache: noCache, logger };
  const index = await loadIndex(source, { conversationId, conversation });
  return async (message) => {
    const load = { startMs: clock.now().getTime(), index: Promise.resolve(index) };
    const { text } = await recallForTurn({ clock, logger }, load, {
      conversationId,
      conversation,
      history,
      turns: [],
      message: { role: 'user', parts: [{ text: message }] },
      budgetTokens: recallTokens,
    });
    return text;
  };
}
