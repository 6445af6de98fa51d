import type { CompactionPolicy } from '#shared/compaction/policy/policy.ts';
import type { PolicyView } from '#shared/wire/responses/context.ts';

/** The limits of a conversation, each with the level that set it; `derived` follows from the threshold. */
export function viewPolicy(policy: CompactionPolicy): PolicyView {
  const { levels } = policy;
  return {
    threshold: {
      tokens: policy.softThresholdTokens,
      source: policy.thresholdLevel,
      ...(policy.thresholdShift !== 0 && { learned: policy.thresholdShift }),
    },
    hardThreshold: { tokens: policy.hardThresholdTokens, source: 'derived' },
    tail: { tokens: policy.tailTokens, source: levels.tailTokens ?? 'derived' },
    snapshot: {
      tokens: policy.snapshotBudgetTokens,
      source: levels.snapshotBudgetTokens ?? 'derived',
    },
    toolOutputs: {
      tokens: policy.toolOutputBudgetTokens,
      source: levels.toolOutputBudgetTokens ?? 'derived',
    },
  };
}
