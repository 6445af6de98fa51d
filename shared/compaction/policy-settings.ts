import type { TokenRule } from '#shared/tokens/text-weight.ts';
import { z } from 'zod';

/**
 * How the place is found up to which turns are folded. `tail-tokens`: the newest turns stay, counted in
 * tokens. `preserve-fraction`: Gemini CLI's algorithm, a share of the JSON characters. `adaptive` (default): as
 * `tail-tokens`, at the change of topic that lies near, with a longer tail after errors and questions: it hits
 * 48 % of the marked changes where `tail-tokens` hits 15 % (lab/eval/tokens/split-score.ts, 201 splits).
 */
export const splitPolicies = ['tail-tokens', 'preserve-fraction', 'adaptive'] as const;

export type SplitPolicy = (typeof splitPolicies)[number];

/** What one level may say. A field that is absent leaves the question to the next level. */
export interface PolicySettings {
  /** Share of the window, in (0, 1]; 1 = never. */
  thresholdFraction?: number | undefined;
  /** Tokens of the conversation without system instruction and tools; a whole number from 1. */
  thresholdTokens?: number | undefined;
  /** Share of the JSON characters that stays verbatim, in (0, 1). */
  preserveFraction?: number | undefined;
  /** Newest tokens that stay verbatim; default: 4,000, a sixth of the threshold at most. */
  tailTokens?: number | undefined;
  toolOutputBudgetTokens?: number | undefined;
  /** Size of a snapshot; default: a share of the soft threshold. */
  snapshotBudgetTokens?: number | undefined;
  breakerFailures?: number | undefined;
  breakerOpenMs?: number | undefined;
  tokenRule?: TokenRule | undefined;
  splitPolicy?: SplitPolicy | undefined;
}

export interface PolicyTableEntry {
  /** Beginning of the model's id; absent or empty = every model. */
  modelPrefix?: string;
  /** Absent = every profile. */
  profile?: string;
  settings: PolicySettings;
}

type NumberField = Exclude<keyof PolicySettings, 'tokenRule' | 'splitPolicy'>;

/** The settings that are numbers. */
export const numberFields: readonly NumberField[] = [
  'thresholdFraction',
  'thresholdTokens',
  'preserveFraction',
  'tailTokens',
  'toolOutputBudgetTokens',
  'snapshotBudgetTokens',
  'breakerFailures',
  'breakerOpenMs',
];

const range: Readonly<Record<NumberField, { holds: (value: number) => boolean; text: string }>> = {
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
  breakerOpenMs: { holds: isWhole, text: 'a whole number of milliseconds from 1' },
};

function isWhole(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1;
}

/** Whether a setting may have this value at any level. */
export const isUsableNumber = (field: NumberField, value: number): boolean =>
  range[field].holds(value);

/** What a setting that is a number may be, for a person. */
export const allowedText = (field: NumberField): string => range[field].text;

/** A setting that is a number, of a table that somebody has written. */
export const settingSchema = (field: NumberField) =>
  z
    .number()
    .refine((value) => isUsableNumber(field, value), `no usable ${field}`)
    .optional();
