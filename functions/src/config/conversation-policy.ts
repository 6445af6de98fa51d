import type { SpendAllowance } from '#shared/compaction/brake.ts';
import { snapshotConstants } from '#shared/compaction/constants.ts';
import { drawVariant, type Variant } from '#shared/compaction/policy-settings.ts';
import { resolvePolicy, type CompactionPolicy } from '#shared/compaction/policy.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { limitingModel } from '#shared/models/routing.ts';
import { findMediaFamily } from '#shared/tokens/media-tokens.ts';
import type { TokenCounting } from '#shared/tokens/token-estimate.ts';
import type { Config } from '../config.ts';
import {
  answeringModel,
  knownModels,
  modelWindowTokens,
  routingInService,
  summarisingModel,
  type ModelsConfig,
} from '../models/models-in-use.ts';

/** Of the room that a small window leaves beside context and message. */
const FREE_FRACTION = 0.1;

/**
 * What may be brought back of folded turns for a message: the least of what deployment, conversation and message say,
 * and never so much that the message would not fit. The profile `gemini-cli` is what it is: nothing.
 */
export const recallTokens = (
  { RECALL_TOKENS }: Pick<Config, 'RECALL_TOKENS'>,
  { settings, profile }: Pick<Conversation, 'settings' | 'profile'>,
  input: { request?: { recallTokens?: number }; freeTokens?: number } = {},
): number => {
  if (profile === 'gemini-cli') return 0;
  const { request, freeTokens = Infinity } = input;
  const asked = Math.min(settings.recallTokens ?? Infinity, request?.recallTokens ?? Infinity);
  return Math.max(0, Math.min(RECALL_TOKENS, asked, Math.floor(FREE_FRACTION * freeTokens)));
};

/**
 * Which arm of the comparison in `config/compaction` a conversation is in, for its whole life: drawn from its epoch,
 * which unlike its id never comes back with another owner. The profile `gemini-cli` is what it is.
 */
export const selectVariant = (
  { remotePolicy }: Pick<Config, 'remotePolicy'>,
  { epoch, profile }: Pick<Conversation, 'epoch' | 'profile'>,
): Variant | undefined =>
  profile === 'gemini-cli' ? undefined : drawVariant(remotePolicy?.variants() ?? {}, epoch);

/**
 * The model whose limits a conversation has, and whose counts and prices stand for it where no turn has chosen one:
 * its own, or of an `auto` conversation the one with the smaller window. A retired one gives way to its successor.
 */
export const modelThatLimits = (
  config: ModelsConfig & Pick<Config, 'routing' | 'MODEL'>,
  model: string,
): string =>
  answeringModel(
    config,
    limitingModel(model, {
      routing: routingInService(config),
      fallback: config.MODEL,
      windows: config.MODEL_WINDOWS,
      models: knownModels(config),
    }),
  );

type PolicyConfig = ModelsConfig &
  Pick<
    Config,
    | 'THRESHOLD_FRACTION'
    | 'THRESHOLD_TOKENS'
    | 'SUMMARY_STRATEGY'
    | 'MODEL'
    | 'routing'
    | 'policySettings'
  >;

type PolicyConversation = Pick<
  Conversation,
  'epoch' | 'settings' | 'profile' | 'model' | 'context' | 'thresholdShift'
>;

/** The policy of one conversation in this deployment: its own settings, then those of the deployment. */
export function conversationPolicy(
  config: PolicyConfig,
  conversation: PolicyConversation,
): CompactionPolicy {
  const { windowTokens, thresholdFraction, thresholdTokens } = conversation.settings;
  const model = modelThatLimits(config, conversation.model);
  const ownWindow = modelWindowTokens(config, model);
  return resolvePolicy({
    conversation: { thresholdFraction, thresholdTokens },
    environment: {
      thresholdFraction: config.THRESHOLD_FRACTION,
      thresholdTokens: config.THRESHOLD_TOKENS,
      ...config.policySettings,
    },
    remote: {
      ...config.remotePolicy?.current(),
      ...selectVariant(config, conversation)?.settings,
    },
    strategy: selectStrategyName(config, conversation),
    model,
    profile: conversation.profile,
    models: knownModels(config),
    windowOverrides: {
      ...config.MODEL_WINDOWS,
      // It may have been set for another model, and makes no model larger.
      ...(windowTokens !== undefined && { [model]: Math.min(windowTokens, ownWindow) }),
    },
    overheadTokens: conversation.context.overheadTokens,
    thresholdShift: config.remotePolicy?.learnsThreshold()
      ? conversation.thresholdShift
      : undefined,
  });
}

/**
 * Which model summarises a conversation, and its window: the conversation's own window where it is the
 * same model. Computed afresh each time: the conversation may have changed its model.
 */
export function selectSummariser(
  config: Parameters<typeof modelThatLimits>[0] & Pick<Config, 'COMPRESSOR_MODEL'>,
  conversation: { model: string; windowTokens: number },
): { model: string; windowTokens: number } {
  const own = modelThatLimits(config, conversation.model);
  const model = summarisingModel(config, own);
  return model === own
    ? { model, windowTokens: conversation.windowTokens }
    : { model, windowTokens: modelWindowTokens(config, model) };
}

/**
 * How much may be read again to derive statements anew that an erasure took out: what the summariser reads
 * for sure, so that the fold ends where the last one did.
 */
export function readAgainTokens(
  config: Parameters<typeof conversationPolicy>[0] & Parameters<typeof selectSummariser>[0],
  conversation: Parameters<typeof conversationPolicy>[1],
): number {
  const { windowTokens } = conversationPolicy(config, conversation);
  const summariser = selectSummariser(config, { model: conversation.model, windowTokens });
  return snapshotConstants.summariserPartialFraction * summariser.windowTokens;
}

/** What one conversation may spend on compactions in this deployment. */
export const spendAllowance = (
  config: Pick<Config, 'COMPACTIONS_PER_HOUR' | 'COMPACTION_DAILY_TOKENS'>,
): SpendAllowance => ({
  runsPerHour: config.COMPACTIONS_PER_HOUR,
  dailyTokens: config.COMPACTION_DAILY_TOKENS,
});

/** How snapshots of a conversation are written where a model may be asked. */
export const selectStrategyName = (
  config: Pick<Config, 'SUMMARY_STRATEGY' | 'remotePolicy'>,
  conversation: Pick<Conversation, 'epoch' | 'profile'>,
): Config['SUMMARY_STRATEGY'] =>
  conversation.profile === 'gemini-cli'
    ? 'gemini-cli'
    : (selectVariant(config, conversation)?.strategy ?? config.SUMMARY_STRATEGY);

/**
 * How the meter estimates what no model has reported yet: by character class, in the profile `gemini-cli` as
 * that one does; media cost what the model's family takes.
 */
export const meterCounting = ({
  model,
  profile,
}: Pick<Conversation, 'model' | 'profile'>): TokenCounting => ({
  rule: profile === 'gemini-cli' ? 'gemini-cli' : 'character-class',
  mediaFamily: findMediaFamily(model),
});
