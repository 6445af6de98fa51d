import { conversationPolicy, meterCounting } from '#functions/config/conversation-policy.ts';
import { renderSnapshot } from '#shared/compaction/render.ts';
import { frameSnapshot } from '#shared/compaction/snapshot-text.ts';
import { assembleContext } from '#shared/conversation/context/assemble-context.ts';
import { type Conversation, nothingCovered } from '#shared/conversation/documents/conversation.ts';
import type { RenderHistory } from '#shared/conversation/writes/erased-history.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';

/** How the snapshots of a conversation are written when items were taken out of them. */
export const createRenderer =
  (config: Parameters<typeof conversationPolicy>[0], conversation: Conversation): RenderHistory =>
  (snapshot, boundary) => {
    const counting = meterCounting(conversation);
    const budgetTokens = conversationPolicy(config, conversation).snapshotBudgetTokens;
    const body = renderSnapshot(snapshot, { budgetTokens, counting });
    const snapshotText = frameSnapshot({ body, boundary });
    const memory = assembleContext({
      model: conversation.model,
      pins: [],
      history: { snapshotText },
      coveredThrough: nothingCovered,
      turns: [],
    });
    const snapshotTokens = memory.reduce(
      (sum, { content }) => sum + estimateContentTokens(content, counting),
      0,
    );
    return { snapshotText, snapshotTokens };
  };
