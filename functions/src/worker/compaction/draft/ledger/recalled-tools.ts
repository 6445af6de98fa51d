import type { FoldPlan } from '#shared/compaction/split/plan.ts';
import { loadIndex } from '#functions/recall/read-index.ts';
import type { ClaimedRun } from '#functions/worker/compaction/run.ts';

/**
 * What tools said in the earlier turns that the folded ones brought back, a text for each turn: the model may have
 * repeated it. From the index of recall, where its words came from. No read where nothing was brought back. Throws
 * StoreUnavailableError.
 */
export async function recalledTools(
  { dependencies, reading }: ClaimedRun,
  { folded }: Pick<FoldPlan, 'folded'>,
): Promise<string[]> {
  const seqs = new Set(folded.flatMap(({ recalled }) => recalled?.seqs ?? []));
  if (seqs.size === 0) return [];
  const { conversationId, head } = reading;
  const { segments } = await loadIndex(dependencies, { conversationId, head: head.value });
  const passages = segments
    .flatMap((segment) => segment.passages)
    .filter(({ seq, role }) => role === 'tool' && seqs.has(seq));
  const bySeq = Map.groupBy(passages, ({ seq }) => seq);
  return [...bySeq.values()].map((each) => each.map(({ text }) => text).join('\n'));
}
