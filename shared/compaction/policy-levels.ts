import { AppError } from '../errors.ts';
import { policyConstants } from './policy-constants.ts';
import { modelName } from './model-name.ts';
import { splitPolicies, type SplitPolicy } from './split-policy.ts';
import type { TokenRule } from './token-estimate.ts';

/** What one level may say. A field that is absent leaves the question to the next level. */
export interface PolicySettings {
  /** Share of the window, in (0, 1]; 1 = never. */
  thresholdFraction?: number | undefined;
  /** Tokens of the conversation without system instruction and tools; a whole number from 1. */
  thresholdTokens?: number | undefined;
  /** Share of the JSON characters that stays verbatim, in (0, 1). */
  preserveFraction?: number | undefined;
  toolOutputBudgetTokens?: number | undefined;
  /** Size of a snapshot; default: a share of the soft threshold. */
  snapshotBudgetTokens?: number | undefined;
  breakerFailures?: number | undefined;
  breakerOpenMs?: number | undefined;
  tokenRule?: TokenRule | undefined;
  splitPolicy?: SplitPolicy | undefined;
}

export interface PolicyTableEntry {
  /** Beginning of the model's id; absent = every model. */
  modelPrefix?: string;
  /** Absent = every profile. */
  profile?: string;
  settings: PolicySettings;
}

export type DecidingLevel = 'conversation' | 'environment' | 'remote' | 'table' | 'default';

interface Threshold {
  level: DecidingLevel;
  /** 1 where the level gives none, which asks for nothing. */
  fraction: number;
  /** Infinity where the level gives none. */
  tokens: number;
}

type NumberField = Exclude<keyof PolicySettings, 'tokenRule' | 'splitPolicy'>;

function isWhole(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1;
}

const range: Readonly<Record<NumberField, { holds: (value: number) => boolean; text: string }>> = {
  thresholdFraction: {
    holds: (value) => value > 0 && value <= 1,
    text: 'above 0 and at most 1 (1 = never)',
  },
  thresholdTokens: { holds: isWhole, text: 'a whole number from 1' },
  preserveFraction: { holds: (value) => value > 0 && value < 1, text: 'above 0 and below 1' },
  toolOutputBudgetTokens: { holds: isWhole, text: 'a whole number from 1' },
  snapshotBudgetTokens: { holds: isWhole, text: 'a whole number from 1' },
  breakerFailures: { holds: isWhole, text: 'a whole number from 1' },
  breakerOpenMs: { holds: isWhole, text: 'a whole number of milliseconds from 1' },
};

/** The settings that are numbers. */
export const numberFields: readonly NumberField[] = [
  'thresholdFraction',
  'thresholdTokens',
  'preserveFraction',
  'toolOutputBudgetTokens',
  'snapshotBudgetTokens',
  'breakerFailures',
  'breakerOpenMs',
];

/** Whether a setting may have this value at any level. */
export const isUsableNumber = (field: NumberField, value: number): boolean =>
  range[field].holds(value);

function refuse(
  level: DecidingLevel,
  { field, value, allowed }: { field: keyof PolicySettings; value: unknown; allowed: string },
): never {
  throw new AppError({
    status: 'INVALID_ARGUMENT',
    reason: 'BAD_SETTING',
    message: `${level} sets ${field} to ${String(value)}; allowed is ${allowed}`,
    publicMessage: `${field} must be ${allowed}.`,
    metadata: { field, level, value: String(value) },
  });
}

/** A setting of the app or the operator is refused aloud; one of a remote document never stops a turn. */
function checked(level: DecidingLevel, settings: PolicySettings | undefined): PolicySettings {
  const isLoud = level === 'conversation' || level === 'environment';
  const result: PolicySettings = { tokenRule: settings?.tokenRule };
  const splitPolicy = settings?.splitPolicy;
  if (splitPolicy !== undefined) {
    if (splitPolicies.includes(splitPolicy)) result.splitPolicy = splitPolicy;
    else if (isLoud)
      refuse(level, {
        field: 'splitPolicy',
        value: splitPolicy,
        allowed: `one of ${splitPolicies.join(', ')}`,
      });
  }
  for (const field of numberFields) {
    const value = settings?.[field];
    if (value === undefined) continue;
    if (range[field].holds(value)) result[field] = value;
    else if (isLoud) refuse(level, { field, value, allowed: range[field].text });
  }
  return result;
}

function tableSettings(
  table: readonly PolicyTableEntry[],
  wanted: { model: string; profile: string | undefined },
): PolicySettings | undefined {
  return table.find(
    (entry) =>
      modelName(wanted.model).startsWith(modelName(entry.modelPrefix ?? '')) &&
      (entry.profile === undefined || entry.profile === wanted.profile),
  )?.settings;
}

/** The built-in level; Gemini CLI knows a fraction only. */
function defaultSettings(isPeer: boolean): PolicySettings {
  const thresholdFraction = policyConstants.thresholdFraction.value;
  return isPeer
    ? { thresholdFraction }
    : { thresholdFraction, thresholdTokens: policyConstants.thresholdTokens.value };
}

/**
 * Which level decides the threshold, and the other settings from the highest level that has each.
 * Throws AppError INVALID_ARGUMENT that names the field.
 */
export function findLevel(
  input: {
    conversation?: PolicySettings | undefined;
    environment?: PolicySettings | undefined;
    remote?: PolicySettings | undefined;
    table?: readonly PolicyTableEntry[] | undefined;
    model: string;
    profile?: string | undefined;
  },
  options: { isPeer: boolean },
): { threshold: Threshold; settings: PolicySettings } {
  const fromTable = tableSettings(input.table ?? [], {
    model: input.model,
    profile: input.profile,
  });
  const levels: readonly [DecidingLevel, PolicySettings][] = [
    ['conversation', checked('conversation', input.conversation)],
    ['environment', checked('environment', input.environment)],
    ['remote', checked('remote', input.remote)],
    ['table', checked('table', fromTable)],
    ['default', defaultSettings(options.isPeer)],
  ];

  let threshold: Threshold | undefined;
  let settings: PolicySettings = {};
  for (const [level, given] of levels) {
    const present = Object.entries(given).filter(([, value]) => value !== undefined);
    settings = { ...Object.fromEntries(present), ...settings };
    if (threshold !== undefined) continue;
    const { thresholdFraction, thresholdTokens } = given;
    if (thresholdFraction === undefined && thresholdTokens === undefined) continue;
    threshold = { level, fraction: thresholdFraction ?? 1, tokens: thresholdTokens ?? Infinity };
  }
  return { threshold: threshold ?? { level: 'default', fraction: 1, tokens: Infinity }, settings };
}
