import { z } from 'zod';

/** What one level may say. A field that is absent leaves the question to the next level. */
export interface PolicySettings {
  /** Share of the window, in (0, 1]; 1 = never. */
  thresholdFraction?: number | undefined;
  /** Tokens of the conversation without system instruction and tools; a whole number from 1. */
  thresholdTokens?: number | undefined;
  /** Share of the JSON characters that stays verbatim, in (0, 1), for measurements: the split is by topic without it. */
  preserveFraction?: number | undefined;
  /** Newest tokens that stay verbatim; default: 4,000, a sixth of the threshold at most. */
  tailTokens?: number | undefined;
  toolOutputBudgetTokens?: number | undefined;
  /** Size of a snapshot; default: a share of the soft threshold. */
  snapshotBudgetTokens?: number | undefined;
  breakerFailures?: number | undefined;
  breakerOpenMs?: number | undefined;
}

export type SettingName = keyof PolicySettings;

/** 30 days: a pause ends at a date that can be stored. */
const PAUSE_MAX_MS = 2_592_000_000;

const range: Readonly<Record<SettingName, { holds: (value: number) => boolean; text: string }>> = {
  thresholdFraction: {
    holds: (value) => value > 0 && value <= 1,
    text: 'above 0 and at most 1 (1 = never)',
  },
  thresholdTokens: { holds: isWhole, text: 'a whole number from 1' },
  preserveFraction: { holds: (value) => value > 0 && value < 1, text: 'above 0 and below 1' },
  tailTokens: { holds: isWhole, text: 'a whole number from 1' },
  toolOutputBudgetTokens: { holds: isWhole, text: 'a whole number from 1' },
  snapshotBudgetTokens: { holds: isWhole, text: 'a whole number from 1' },
  breakerFailures: { holds: isWhole, text: 'a whole number from 1' },
  breakerOpenMs: {
    holds: (value) => isWhole(value) && value <= PAUSE_MAX_MS,
    text: 'a whole number of milliseconds from 1 to 2,592,000,000 (30 days)',
  },
};

function isWhole(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1;
}

export const settingNames = [
  'thresholdFraction',
  'thresholdTokens',
  'preserveFraction',
  'tailTokens',
  'toolOutputBudgetTokens',
  'snapshotBudgetTokens',
  'breakerFailures',
  'breakerOpenMs',
] as const satisfies readonly SettingName[];

/** Whether a setting may have this value at any level. */
export const isUsableSetting = (name: SettingName, value: number): boolean =>
  range[name].holds(value);

/** What a setting may be, for a person. */
export const allowedText = (name: SettingName): string => range[name].text;

/** A setting in a document that somebody has written. */
export const settingSchema = (name: SettingName) =>
  z
    .number()
    .refine((value) => isUsableSetting(name, value), `no usable ${name}`)
    .optional();
