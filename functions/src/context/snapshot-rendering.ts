import { renderLedger } from '#shared/compaction/ledger/render-snapshot.ts';
import type { RenderHistory } from '#shared/compaction/snapshot/repair-history.ts';
import { frameSnapshot } from '#shared/compaction/snapshot/snapshot-text.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import { assembleContext } from '#shared/conversation/context/assemble-context.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { nothingCovered } from '#shared/conversation/writes/next-generation.ts';
import { meterCounting, conversationPolicy } from '../config/conversation-policy.ts';
import type { OutputForms } from '#shared/compaction/tool-outputs/sent-outputs.ts';
import type { Sha256 } from '#shared/ports/ports.ts';
import type { Config } from '../config.ts';

/** What the forms of tool outputs depend on beside the conversation. */
export interface Viewing {
  config: Config;
  sha256: Sha256;
}

/** In which forms the tool outputs of a conversation are sent. One piece of work asks once: parts are weighed once. */
export const selectOutputForms = (
  { config, sha256 }: Viewing,
  conversation: Parameters<typeof conversationPolicy>[1],
): OutputForms => ({
  policy: conversationPolicy(config, conversation),
  counting: { ...meterCounting(conversation), weighed: new Map() },
  blobName: config.BUILT_IN_TOOLS.includes('read_blob') ? sha256 : undefined,
});

/** How the snapshots of a conversation are written when items were taken out of them. */
export const createRenderer =
  (config: Parameters<typeof conversationPolicy>[0], conversation: Conversation): RenderHistory =>
  (snapshot, boundary) => {
    const counting = meterCounting(conversation);
    const budgetTokens = conversationPolicy(config, conversation).snapshotBudgetTokens;
    const body = renderLedger(snapshot, { budgetTokens, counting });
    const snapshotText = frameSnapshot({ body, boundary });
    const memory = assembleContext({
      model: conversation.model,
      pins: [],
      history: { snapshotText, masks: [] },
      coveredThrough: nothingCovered,
      turns: [],
    });
    const snapshotTokens = memory.reduce(
      (sum, { content }) => sum + estimateContentTokens(content, counting),
      0,
    );
    return { snapshotText, snapshotTokens };
  };
