import { AppError } from '#shared/errors.ts';
import { policyConstants } from './policy-constants.ts';
import {
  allowedText,
  isUsableNumber,
  numberFields,
  type PolicySettings,
  type PolicyTableEntry,
} from './policy-settings.ts';
import { splitPolicies } from '../split/split-by-fraction.ts';
import { findRow, thresholdTable } from './threshold-table.ts';

export type DecidingLevel = 'conversation' | 'environment' | 'remote' | 'table' | 'default';

/** What each level gives, for a model. */
export interface GivenSettings {
  conversation?: PolicySettings | undefined;
  environment?: PolicySettings | undefined;
  /** Document `config/compaction`; 0 and unusable values mean "ask the next level". */
  remote?: PolicySettings | undefined;
  /** The deployment's own rows; the first that fits model and profile counts, before the table that ships. */
  table?: readonly PolicyTableEntry[] | undefined;
  model: string;
}

export interface Threshold {
  level: DecidingLevel;
  /** 1 where the level gives none, which asks for nothing. */
  fraction: number;
  /** Infinity where the level gives none. */
  tokens: number;
}

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
  if (settings === undefined) return {};
  const isLoud = level === 'conversation' || level === 'environment';
  const result: PolicySettings = { tokenRule: settings.tokenRule };
  const splitPolicy = settings.splitPolicy;
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
    const value = settings[field];
    if (value === undefined) continue;
    if (isUsableNumber(field, value)) result[field] = value;
    else if (isLoud) refuse(level, { field, value, allowed: allowedText(field) });
  }
  return result;
}

/** The built-in level; Gemini CLI knows a fraction only. */
function defaultSettings(isPeer: boolean): PolicySettings {
  const thresholdFraction = policyConstants.thresholdFraction.value;
  return isPeer
    ? { thresholdFraction }
    : { thresholdFraction, thresholdTokens: policyConstants.thresholdTokens.value };
}

/** Which level a setting comes from; one that no level gives follows from the others. */
export type SettingLevels = Readonly<Partial<Record<keyof PolicySettings, DecidingLevel>>>;

/**
 * Which level decides the threshold, and the other settings from the highest level that has each. The level
 * `table` has the deployment's own rows before those of `threshold-table.ts`, which leave the profile
 * `gemini-cli` as it is. Throws AppError INVALID_ARGUMENT that names the field.
 */
export function findLevel(
  input: GivenSettings & { profile: string },
  options: { isPeer: boolean },
): { threshold: Threshold; settings: PolicySettings; levels: SettingLevels } {
  const levels: readonly [DecidingLevel, PolicySettings][] = [
    ['conversation', checked('conversation', input.conversation)],
    ['environment', checked('environment', input.environment)],
    ['remote', checked('remote', input.remote)],
    ['table', checked('table', findRow(input.table ?? [], input)?.settings)],
    ['table', findRow(thresholdTable, input)?.settings ?? {}],
    ['default', defaultSettings(options.isPeer)],
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
