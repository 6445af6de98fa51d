import type { SummaryStrategy } from '#shared/conversation/documents/history.ts';
import {
  promptLimitTokens,
  contextWindowTokens,
  type WindowOverrides,
  readRemoteModels,
} from '#shared/models/known-models.ts';
import { AppError } from '#shared/lib/errors.ts';
import { webhooksSchema, type Webhook } from '#shared/hooks/webhook.ts';
import { findModel, type ModelTable } from '#shared/models/model-entry.ts';
import { modelRegistry } from '#shared/models/model-registry.ts';
import type { TokenRule } from '#shared/tokens/text-weight.ts';
import type { ContextLimits, OutputLimits } from '#shared/conversation/context/sent-view.ts';
import { toolOutputConstants } from '#shared/conversation/context/tool-output-constants.ts';
import { policyConstants, snapshotConstants } from './constants.ts';
import {
  type PolicySettings,
  settingNames,
  type SettingName,
  isUsableSetting,
  allowedText,
  variantsSchema,
  type Variants,
} from './policy-settings.ts';

// The policy of a conversation

export interface CompactionPolicy extends ContextLimits, OutputLimits {
  readonly profile: string;
  readonly tokenRule: TokenRule;
  /** Conversation tokens at which a compaction is requested; null = never. */
  readonly softThresholdTokens: number | null;
  /** Which level decided the soft threshold. */
  readonly thresholdLevel: DecidingLevel;
  /** By which share of itself the threshold was moved (`learnShift`); 0 = not at all. */
  readonly thresholdShift: number;
  /** Which level gave each of the other settings; those that are absent follow from the threshold. */
  readonly levels: SettingLevels;
  readonly snapshotBudgetTokens: number;
  /** Tokens of the newest turns that stay verbatim, and what a tail of two turns, or of one, may take. */
  readonly tailTokens: number;
  readonly tailCapTokens: number;
  /** Share of the JSON characters that stays verbatim, in (0, 1); undefined: what stays begins at a change of topic. */
  readonly preserveFraction: number | undefined;
  readonly breakerFailures: number;
  readonly breakerOpenMs: number;
  /** Of all failures, only a summary that is larger than the history counts for the breaker (profile `gemini-cli`). */
  readonly onlyInflationCounts: boolean;
  /** A swap of an automatic run must save this share of the tokens before. */
  readonly minimumSavingFraction: number;
  /** And at least as many tokens: a share of the soft threshold; 0 asks for none. */
  readonly minimumSavingTokens: number;
  /** New tokens since the last swap, as a share of the soft threshold, before the next automatic run. */
  readonly rearmFraction: number;
  /** Whether a swap that saves nothing passes (profile `gemini-cli`). */
  readonly acceptsEqualSize: boolean;
}

export interface PolicyInput extends GivenSettings {
  profile?: string | undefined;
  /** How summaries are written: `gemini-cli` splits by a share, too. Default `ledger`. */
  strategy?: SummaryStrategy | undefined;
  windowOverrides?: WindowOverrides | undefined;
  /** Tokens of system instruction and tools as measured; default 0. */
  overheadTokens?: number | undefined;
  /** What was learned from compactions by hand; nothing where the conversation names its own threshold. Default 0. */
  thresholdShift?: number | undefined;
}

const peerProfile = 'gemini-cli';

/**
 * The policy of one conversation, frozen. Levels in order: conversation, document `config/compaction`, environment, the
 * model's row in the registry, default; the highest level that gives a fraction or a number of tokens decides the
 * threshold with the smaller of what it gives. Other settings are taken from the highest level that has them.
 * Throws AppError INVALID_ARGUMENT for an unusable value of conversation or environment (0 included).
 */
export function resolvePolicy(input: PolicyInput): CompactionPolicy {
  const windowTokens = contextWindowTokens(input.model, input.windowOverrides, input.models);
  const overheadTokens = input.overheadTokens ?? 0;
  const profile = input.profile ?? 'assistant';
  const isPeer = profile === peerProfile;
  const { threshold, settings, levels } = findLevel(input, profile);

  const isFixed = isPeer || threshold.level === 'conversation';
  const thresholdShift = isFixed ? 0 : boundedShift(input.thresholdShift ?? 0);
  const usable = isPeer ? Infinity : usableTokens(windowTokens, overheadTokens);
  const soft = softThreshold(threshold, { windowTokens, usable, shift: thresholdShift });
  const windowLimit = promptLimitTokens(windowTokens);
  const scaleTokens = soft ?? windowLimit;
  const toolOutputBudgetTokens =
    settings.toolOutputBudgetTokens ?? toolOutputBudget(isPeer, scaleTokens);

  return Object.freeze({
    profile,
    windowTokens,
    softThresholdTokens: soft,
    thresholdLevel: threshold.level,
    thresholdShift,
    levels,
    hardThresholdTokens: Math.min(windowLimit, policyConstants.hardThresholdFactor * scaleTokens),
    snapshotBudgetTokens: settings.snapshotBudgetTokens ?? snapshotBudget(scaleTokens),
    breakerOpenMs: settings.breakerOpenMs ?? policyConstants.breakerOpenMs,
    onlyInflationCounts: isPeer,
    acceptsEqualSize: isPeer,
    excludesOverhead: !isPeer,
    tokenRule: isPeer ? 'gemini-cli' : 'character-class',
    ...tailValues(scaleTokens, settings.tailTokens ?? policyConstants.tailTokens),
    preserveFraction:
      isPeer || input.strategy === 'gemini-cli'
        ? policyConstants.preserveFraction
        : settings.preserveFraction,
    toolOutputBudgetTokens,
    toolOutputMinimumGainTokens: isPeer
      ? 0
      : Math.floor(toolOutputConstants.toolOutputMinimumGainFraction * toolOutputBudgetTokens),
    breakerFailures: settings.breakerFailures ?? (isPeer ? 1 : policyConstants.breakerFailures),
    minimumSavingFraction: isPeer ? 0 : policyConstants.minimumSavingFraction,
    minimumSavingTokens: isPeer
      ? 0
      : Math.floor(policyConstants.minimumSavingThresholdFraction * scaleTokens),
    rearmFraction: isPeer ? 0 : policyConstants.rearmFraction,
  } as const);
}

/** Tokens at which a compaction is requested: what a level gives, moved by the shift, within what is usable. */
function softThreshold(
  { fraction, tokens }: Threshold,
  { windowTokens, usable, shift }: { windowTokens: number; usable: number; shift: number },
): number | null {
  const given = Math.min(fraction === 1 ? Infinity : Math.floor(fraction * windowTokens), tokens);
  if (given === Infinity) return null;
  return Math.max(1, Math.min(Math.round(given * (1 + shift)), usable));
}

function usableTokens(windowTokens: number, overheadTokens: number): number {
  return promptLimitTokens(windowTokens) - overheadTokens;
}

const snapshotBudget = (scaleTokens: number): number =>
  clamp(
    Math.floor(snapshotConstants.snapshotBudgetFraction * scaleTokens),
    snapshotConstants.snapshotBudgetMinimumTokens,
    snapshotConstants.snapshotBudgetMaximumTokens,
  );

/** The profile `gemini-cli` has that program's, whatever the threshold. */
const toolOutputBudget = (isPeer: boolean, scaleTokens: number): number =>
  isPeer
    ? toolOutputConstants.toolOutputBudgetTokens
    : clamp(
        Math.floor(toolOutputConstants.toolOutputBudgetFraction * scaleTokens),
        toolOutputConstants.toolOutputBudgetMinimumTokens,
        toolOutputConstants.toolOutputBudgetTokens,
      );

/**
 * What stays verbatim of a conversation whose threshold, or whose size, is `scaleTokens`; at most
 * `mostTokens` where more than two turns stay.
 */
export const tailValues = (scaleTokens: number, mostTokens: number) => ({
  tailTokens: Math.min(mostTokens, Math.floor(policyConstants.tailFraction * scaleTokens)),
  tailCapTokens: Math.floor(policyConstants.tailCapFraction * scaleTokens),
});

function clamp(value: number, minimum: number, maximum: number): number {
  return Math.min(maximum, Math.max(minimum, value));
}

// What it says of a context

/**
 * Whether a context is due for compaction: its tokens without overhead have reached the soft threshold
 * (equal counts). With a large overhead the threshold sinks to what 0.8 × window leaves for the
 * conversation.
 */
export function isOverThreshold(context: {
  /** The whole context: overhead, snapshot and tail. */
  tokens: number;
  overheadTokens: number;
  policy: CompactionPolicy;
}): boolean {
  const { tokens, overheadTokens, policy } = context;
  if (policy.softThresholdTokens === null) return false;
  if (!policy.excludesOverhead) return tokens >= policy.softThresholdTokens;
  const usable = usableTokens(policy.windowTokens, overheadTokens);
  return tokens - overheadTokens >= Math.min(policy.softThresholdTokens, Math.max(1, usable));
}

/**
 * Throws AppError OVERHEAD_TOO_LARGE (400) when system instruction and tools take more than half of the
 * window. To be asked where one of them is written; a policy is resolved whatever they take.
 */
export function refuseOverhead(sizes: { overheadTokens: number; windowTokens: number }): void {
  const { overheadTokens, windowTokens } = sizes;
  if (overheadTokens <= policyConstants.overheadFraction * windowTokens) return;
  throw new AppError({
    reason: 'OVERHEAD_TOO_LARGE',
    publicMessage:
      'systemInstruction and tools take more than half of the context window. Shorten them or choose a model with a larger window.',
    metadata: { overheadTokens: String(overheadTokens), windowTokens: String(windowTokens) },
  });
}

// Which level decides

type DecidingLevel = 'conversation' | 'remote' | 'environment' | 'model' | 'default';

/** Which level a setting comes from; one that no level gives follows from the others. */
type SettingLevels = Readonly<Partial<Record<SettingName, DecidingLevel>>>;

/** What each level gives, for a model. */
interface GivenSettings {
  conversation?: PolicySettings | undefined;
  /** Document `config/compaction`, with what the variant of the conversation changes. */
  remote?: PolicySettings | undefined;
  environment?: PolicySettings | undefined;
  model: string;
  /** What is known of models; absent: the registry. */
  models?: ModelTable;
}

interface Threshold {
  level: DecidingLevel;
  /** 1 where the level gives none, which asks for nothing. */
  fraction: number;
  /** Infinity where the level gives none. */
  tokens: number;
}

/**
 * Which level decides the threshold, and the other settings from the highest level that has each. Throws AppError
 * INVALID_ARGUMENT that names the field.
 */
function findLevel(
  input: GivenSettings,
  profile: string,
): { threshold: Threshold; settings: PolicySettings; levels: SettingLevels } {
  const levels: readonly [DecidingLevel, PolicySettings][] = [
    ['conversation', checked('conversation', input.conversation)],
    ['remote', input.remote ?? {}],
    ['environment', checked('environment', input.environment)],
    ['model', modelSettings(input, profile)],
    ['default', defaultSettings(profile)],
  ];

  let threshold: Threshold | undefined;
  let settings: PolicySettings = {};
  let levelOf: SettingLevels = {};
  for (const [level, given] of levels) {
    const present = Object.entries(given).filter(([, value]) => value !== undefined);
    if (present.length === 0) continue;
    settings = { ...Object.fromEntries(present), ...settings };
    levelOf = { ...Object.fromEntries(present.map(([field]) => [field, level])), ...levelOf };
    if (threshold !== undefined) continue;
    const { thresholdFraction, thresholdTokens } = given;
    if (thresholdFraction === undefined && thresholdTokens === undefined) continue;
    threshold = { level, fraction: thresholdFraction ?? 1, tokens: thresholdTokens ?? Infinity };
  }
  return {
    threshold: threshold ?? { level: 'default', fraction: 1, tokens: Infinity },
    settings,
    levels: levelOf,
  };
}

/** What the row of a model names for a profile. */
function modelSettings({ model, models = modelRegistry }: GivenSettings, profile: string) {
  const thresholds = findModel(models, model)?.thresholds ?? {};
  return (profile === 'assistant' || profile === 'coding' ? thresholds[profile] : undefined) ?? {};
}

/** The built-in level; Gemini CLI knows a fraction only. */
function defaultSettings(profile: string): PolicySettings {
  if (profile === peerProfile) return { thresholdFraction: policyConstants.thresholdFraction };
  if (profile === 'coding')
    return {
      thresholdFraction: policyConstants.thresholdFraction,
      thresholdTokens: policyConstants.codingThresholdTokens,
      tailTokens: policyConstants.codingTailTokens,
    };
  return {
    thresholdFraction: policyConstants.thresholdFraction,
    thresholdTokens: policyConstants.thresholdTokens,
  };
}

/** The settings of an app or an operator; one that is unusable is refused. */
function checked(
  level: 'conversation' | 'environment',
  settings: PolicySettings = {},
): PolicySettings {
  for (const field of settingNames) {
    const value = settings[field];
    if (value !== undefined && !isUsableSetting(field, value))
      refuse(level, { field, value, allowed: allowedText(field) });
  }
  return settings;
}

function refuse(
  level: DecidingLevel,
  { field, value, allowed }: { field: SettingName; value: unknown; allowed: string },
): never {
  throw new AppError({
    reason: 'BAD_SETTING',
    publicMessage: `${field} must be ${allowed}.`,
    metadata: { field, level, value: String(value) },
  });
}

// The remote policy document

/** What the document `config/compaction` says. */
interface RemoteSettings {
  settings: PolicySettings;
  /** Other settings for a share of the conversations, by name, to compare them. */
  variants: Variants;
  /** Whether the threshold of a conversation moves towards where its user compacts it by hand. */
  learnsThreshold: boolean;
  /** Addresses that are told of every compaction. */
  hooks: readonly Webhook[];
  /** The registry with what the document says of models. */
  models: ModelTable;
}

/** The settings that the document may have; a share that stays verbatim belongs to a strategy. */
const remoteNames = settingNames.filter((name) => name !== 'preserveFraction');

const remoteObjects = ['hooks', 'variants', 'models', 'learnThreshold'] as const;

/** Every field that the document may have. */
export const REMOTE_FIELDS: readonly string[] = [...remoteNames, ...remoteObjects];

/**
 * Reads the remote document field by field: one that is unusable, or whose name nobody knows, leaves the others in force
 * and is named in `unusable`. 0 and '' ask the next level.
 */
export function readRemoteSettings(
  fields: Readonly<Record<string, unknown>>,
): RemoteSettings & { unusable: string[] } {
  const settings: PolicySettings = {};
  for (const field of remoteNames) {
    const value = fields[field];
    if (typeof value === 'number' && isUsableSetting(field, value)) settings[field] = value;
  }
  const hooks = webhooksSchema.safeParse(fields['hooks']).data;
  const variants = variantsSchema.safeParse(fields['variants']).data;
  const learns = fields['learnThreshold'];
  const { models, unusable: unusableModels } = readRemoteModels(fields['models']);
  const learnThreshold = typeof learns === 'boolean' ? learns : undefined;
  const objects: Record<(typeof remoteObjects)[number], unknown> = {
    hooks,
    variants,
    models,
    learnThreshold,
  };
  const usable: Readonly<Record<string, unknown>> = { ...settings, ...objects };
  const unusableFields = Object.entries(fields)
    .filter(([name, value]) => !isUnset(value) && usable[name] === undefined)
    .map(([name]) => name);
  return {
    settings,
    variants: variants ?? {},
    learnsThreshold: learns === true,
    hooks: hooks ?? [],
    models,
    unusable: [...unusableFields, ...unusableModels].toSorted(),
  };
}

/** What remote configurations write for "not set". */
const isUnset = (value: unknown) =>
  value === undefined || value === null || value === 0 || value === '';

// What was learned from compactions by hand

/**
 * By which share of itself the threshold of a conversation moves, after its user has compacted it by hand at `tokens`:
 * halfway from the share `known` so far to where that was, by a tenth at most. 0 leaves the threshold as it is.
 */
export function learnShift(
  known: number | undefined,
  /** Both without overhead; the threshold as it is without a shift. */
  { tokens, thresholdTokens }: { tokens: number; thresholdTokens: number },
): number {
  const before = boundedShift(known ?? 0);
  if (tokens <= 0) return before;
  const wanted = boundedShift(tokens / thresholdTokens - 1);
  return Number(((before + wanted) / 2).toFixed(SHARE_DIGITS));
}

/** Digits of a share that are kept: a thousandth of a threshold is 24 tokens. */
const SHARE_DIGITS = 3;

/** A share within what a threshold may move, in either direction: a habit of one user says little about what it costs. */
function boundedShift(shift: number): number {
  const most = policyConstants.learnedShiftMaximum;
  return Math.min(most, Math.max(-most, shift));
}
