import { renderLedger } from '../../shared/compaction/ledger/render-snapshot.ts';
import type { RenderHistory } from '../../shared/compaction/mend-history.ts';
import { frameSnapshot } from '../../shared/compaction/snapshot-text.ts';
import { estimateContentTokens } from '../../shared/compaction/token-estimate.ts';
import { assembleContext } from '../../shared/conversation/assemble-context.ts';
import type { Head } from '../../shared/conversation/head.ts';
import { nothingCovered } from '../../shared/conversation/next-generation.ts';
import { meterCounting, policyOf } from './conversation-policy.ts';

/** How the snapshots of a conversation are written when items were taken out of them. */
export const rendererOf =
  (config: Parameters<typeof policyOf>[0], head: Head): RenderHistory =>
  (snapshot, boundary) => {
    const counting = meterCounting(head);
    const budgetTokens = policyOf(config, head).snapshotBudgetTokens;
    const body = renderLedger(snapshot, { budgetTokens, counting });
    const snapshotText = frameSnapshot({ body, boundary });
    const memory = assembleContext({
      model: head.model,
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
