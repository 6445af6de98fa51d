import { resolvePolicy, type CompactionPolicy } from '../../shared/compaction/policy.ts';
import type { Head } from '../../shared/conversation/head.ts';
import type { Config } from './config.ts';

/** The policy of one conversation in this deployment: its own settings, then the environment's. */
export function policyOf(
  config: Pick<Config, 'THRESHOLD_FRACTION' | 'THRESHOLD_TOKENS' | 'MODEL_WINDOWS'>,
  head: Pick<Head, 'settings' | 'profile' | 'model' | 'context'>,
): CompactionPolicy {
  const { windowTokens, thresholdFraction, thresholdTokens } = head.settings;
  return resolvePolicy({
    conversation: { thresholdFraction, thresholdTokens },
    environment: {
      thresholdFraction: config.THRESHOLD_FRACTION,
      thresholdTokens: config.THRESHOLD_TOKENS,
    },
    model: head.model,
    profile: head.profile,
    windowOverrides: {
      ...config.MODEL_WINDOWS,
      ...(windowTokens !== undefined && { [head.model]: windowTokens }),
    },
    overheadTokens: head.context.overheadTokens,
  });
}
