import { compressorModel } from '../../shared/compaction/compressor-model.ts';
import { contextWindowTokens } from '../../shared/compaction/model-limits.ts';
import { resolvePolicy, type CompactionPolicy } from '../../shared/compaction/policy.ts';
import { mediaFamilyOf } from '../../shared/compaction/media-tokens.ts';
import type { TokenCounting } from '../../shared/compaction/token-estimate.ts';
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

/**
 * Which model summarises a conversation, and its window: the conversation's own window where it is the
 * same model. Computed afresh each time: the conversation may have changed its model.
 */
export function summariserOf(
  config: Pick<Config, 'COMPRESSOR_MODEL' | 'MODEL_WINDOWS'>,
  conversation: { model: string; windowTokens: number },
): { model: string; windowTokens: number } {
  const model = compressorModel(conversation.model, config.COMPRESSOR_MODEL);
  return model === conversation.model
    ? conversation
    : { model, windowTokens: contextWindowTokens(model, config.MODEL_WINDOWS) };
}

/** How the meter estimates what no model has reported yet; media cost what the model's family takes. */
export const meterCounting = ({ model }: Pick<Head, 'model'>): TokenCounting => ({
  rule: 'character-class',
  mediaFamily: mediaFamilyOf(model),
});
