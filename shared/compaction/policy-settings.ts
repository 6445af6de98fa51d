import { summaryStrategies, type SummaryStrategy } from '#shared/conversation/documents/history.ts';
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

export const settingNames: readonly SettingName[] = Object.keys(range).filter(
  (name): name is SettingName => Object.hasOwn(range, name),
);

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

/** One arm of a comparison: how many conversations it gets, and what is different for them. */
const variantSchema = z.strictObject({
  /** Share of the conversations, in (0, 1]. */
  share: z.number().gt(0).max(1),
  strategy: z.enum(summaryStrategies).optional(),
  thresholdFraction: settingSchema('thresholdFraction'),
  thresholdTokens: settingSchema('thresholdTokens'),
  tailTokens: settingSchema('tailTokens'),
  toolOutputBudgetTokens: settingSchema('toolOutputBudgetTokens'),
  snapshotBudgetTokens: settingSchema('snapshotBudgetTokens'),
  breakerFailures: settingSchema('breakerFailures'),
  breakerOpenMs: settingSchema('breakerOpenMs'),
});

/** Room for the error of adding shares such as 0.1 and 0.2. */
const SHARE_ERROR = 1e-9;

/** The arms by name. Conversations beyond their shares have the settings of all. */
export const variantsSchema = z
  .record(z.string().regex(/^[\w.-]{1,64}$/), variantSchema)
  .refine(
    (variants) =>
      Object.values(variants).reduce((sum, { share }) => sum + share, 0) <= 1 + SHARE_ERROR,
    'the shares add up to more than 1',
  );
export type Variants = z.infer<typeof variantsSchema>;

export interface Variant {
  name: string;
  strategy: SummaryStrategy | undefined;
  settings: PolicySettings;
}

/** Start of the hash FNV-1a with 32 bits. */
const FNV_OFFSET = 0x811c9dc5;
/** Factor of the hash FNV-1a with 32 bits. */
const FNV_PRIME = 0x01000193;
/** What makes a fraction of 32 bits. */
const UINT32 = 2 ** 32;

/** FNV-1a with the finaliser of MurmurHash3, as a number in [0, 1): even for keys that differ by one character. */
function hashFraction(key: string): number {
  let hash = FNV_OFFSET;
  for (const character of key) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), FNV_PRIME);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / UINT32;
}

/**
 * The arm of the conversation that `key` names, or undefined for none: the same key has the same arm as long
 * as names and shares stay. In the order of the names, whatever the order in which they are written.
 */
export function drawVariant(variants: Variants, key: string): Variant | undefined {
  const place = hashFraction(key);
  let end = 0;
  for (const [name, variant] of Object.entries(variants).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const { share, strategy, ...settings } = variant;
    end += share;
    if (place < end) return { name, strategy, settings };
  }
  return undefined;
}
