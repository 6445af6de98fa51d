import type { CompactionDependencies } from '#functions/worker/compaction/compaction-dependencies.ts';
import {
  readContext,
  readConversationAndJob,
} from '#functions/worker/compaction/draft/read-for-compaction.ts';
import { runCompaction } from '#functions/worker/compaction/run-compaction.ts';
import { tokenCounting } from '#shared/compaction/context-tokens.ts';
import type { PolicySettings } from '#shared/compaction/policy-settings.ts';
import { planMasks, storedMasks } from '#shared/compaction/tool-output-budget.ts';
import { assembleContext } from '#shared/conversation/context/assemble-context.ts';
import { noCache } from '#shared/conversation/context/read-conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { askForCompaction } from './eval-store.ts';

/** One compaction and what it left. */
export interface CompactedOnce {
  state: string;
  reason?: string;
  /** Absent when nothing was swapped. */
  history?: History;
  modelCalls: number;
  durationMs: number;
}

interface CompactionToRun {
  conversationId: string;
  /** Last turn that shall be folded. */
  lastFoldedSeq: number;
  snapshotTokens?: number;
  /** Soft threshold that budgets follow. */
  thresholdTokens?: number;
}

async function reading(dependencies: CompactionDependencies, conversationId: string) {
  const uncached = { ...dependencies, cache: noCache };
  const { conversation, job } = await readConversationAndJob(uncached, conversationId);
  if (!conversation) throw new Error(`there is no conversation ${conversationId}`);
  return readContext(uncached, conversationId, { conversation, job });
}

/**
 * The `preserveFraction` with which the product's split, by characters of JSON and with the tool outputs
 * shortened that it will shorten, comes to lie behind the turn: in the middle between the fractions that reach it and the place before it.
 */
async function preserveFractionFor(
  dependencies: CompactionDependencies,
  { conversationId, lastFoldedSeq }: CompactionToRun,
): Promise<number> {
  const { conversation, history, turns, policy } = await reading(dependencies, conversationId);
  const { model, coveredThrough } = conversation.value;
  const masks = planMasks({
    turns,
    coveredThrough,
    standing: history?.masks ?? [],
    budgetTokens: policy.toolOutputBudgetTokens,
    minimumGainTokens: policy.toolOutputMinimumGainTokens,
    counting: tokenCounting(policy, model),
    blobName: dependencies.sha256,
  });
  const items = assembleContext({
    model,
    pins: [],
    history: { snapshotText: history?.snapshotText ?? '', masks: storedMasks(masks) },
    coveredThrough,
    turns,
  });
  let total = 0;
  let before = 0;
  let beforeLast = 0;
  for (const { seq, content } of items) {
    const length = JSON.stringify(content).length;
    total += length;
    if ((seq ?? 0) <= lastFoldedSeq) before += length;
    if ((seq ?? 0) < lastFoldedSeq) beforeLast += length;
  }
  const middle = (before + beforeLast) / 2 / Math.max(1, total);
  return 1 - Math.min(0.999, Math.max(0.001, middle));
}

const withSettings = (
  dependencies: CompactionDependencies,
  policySettings: PolicySettings,
): CompactionDependencies => ({
  ...dependencies,
  config: { ...dependencies.config, policySettings },
});

/** Asks for a compaction that folds the turns up to one, and runs it as the worker does. */
export async function compactThrough(
  dependencies: CompactionDependencies,
  wanted: CompactionToRun,
): Promise<CompactedOnce> {
  const { conversationId, snapshotTokens, thresholdTokens } = wanted;
  const budgets: PolicySettings = {
    ...(snapshotTokens !== undefined && { snapshotBudgetTokens: snapshotTokens }),
    ...(thresholdTokens !== undefined && { thresholdTokens }),
  };
  const policySettings: PolicySettings = {
    ...budgets,
    preserveFraction: await preserveFractionFor(withSettings(dependencies, budgets), wanted),
  };
  const since = dependencies.clock.now();
  const requestId = dependencies.randomness.uuid();
  await askForCompaction(dependencies.store, { conversationId, requestId, since });
  const result = await runCompaction(withSettings(dependencies, policySettings), {
    conversationId,
    signal: new AbortController().signal,
  });
  const durationMs = dependencies.clock.now().getTime() - since.getTime();
  if (result.kind !== 'done')
    return { state: 'RETRY', reason: result.reason, modelCalls: 0, durationMs };
  const { history, job } = await reading(dependencies, conversationId);
  const isSwapped = history?.requestId === requestId;
  return {
    state: result.state ?? 'NOTHING',
    ...(result.reason !== undefined && { reason: result.reason }),
    ...(isSwapped && { history }),
    modelCalls: job?.value.records.at(-1)?.modelCalls ?? 0,
    durationMs,
  };
}
