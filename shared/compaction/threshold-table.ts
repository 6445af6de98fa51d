import { modelName } from '#shared/models/model-entry.ts';
import { settingSchema, type PolicyTableEntry } from './policy-settings.ts';
import { z } from 'zod';

/** A row of the table that ships with Recap. */
interface ThresholdRow extends PolicyTableEntry {
  /** Why it differs from the default. */
  reason: string;
  /** Where its figures come from. */
  source: string;
}

const uncached =
  'implicit caching begins with Gemini 2.5: each prompt is read anew, so that long ones cost all the more; the ' +
  'fraction binds in windows of 32,768 tokens and less';

/**
 * Thresholds that differ from the default by model and profile; the first row that fits counts. A Gemini model
 * in the profile `assistant` has none: the default was made for it. Nor has the profile `gemini-cli`, which is
 * that program. `npm run cost -- --data` computes what others would cost with recordings.
 */
export const thresholdTable: readonly ThresholdRow[] = [
  {
    modelPrefix: 'gemini-',
    profile: 'coding',
    settings: { thresholdFraction: 0.5, thresholdTokens: 48_000, tailTokens: 8_000 },
    reason:
      'a step with its tool output takes about 1,000 tokens, ten times a message of a chat, so that a tail of ' +
      '4,000 holds 4 to 7 steps; tool rounds follow each other within seconds: longer prompts are cached and cheap',
    source:
      'with nine prompts of ten cached two recorded coding sessions cost 1.4 and 1.5 × the cheapest threshold ' +
      '(12,000) at 48,000, 1.1 and 1.2 × at 24,000; of all that was folded the last snapshot carries 13 and 22 %, ' +
      'at 24,000 8 and 19 %',
  },
  {
    modelPrefix: 'gemma-',
    profile: 'coding',
    settings: { thresholdFraction: 0.25, thresholdTokens: 16_000 },
    reason: uncached,
    source:
      'without a cache two recorded coding sessions cost 1.5 and 1.8 × the cheapest threshold at 16,000, 2.0 and ' +
      '2.4 × at 24,000, 3.2 and 4.1 × at 48,000',
  },
  {
    modelPrefix: 'gemma-',
    profile: 'assistant',
    settings: { thresholdFraction: 0.25, thresholdTokens: 12_000 },
    reason: uncached,
    source:
      'without a cache four sets of conversations cost 1.6 × the cheapest threshold at 12,000, as Gemini models ' +
      'do at 24,000 with half of the prompts cached; the free tier takes 15,000 tokens a minute',
  },
];

const rowSettingsSchema = z.strictObject({
  thresholdFraction: settingSchema('thresholdFraction'),
  thresholdTokens: settingSchema('thresholdTokens'),
  tailTokens: settingSchema('tailTokens'),
  snapshotBudgetTokens: settingSchema('snapshotBudgetTokens'),
  toolOutputBudgetTokens: settingSchema('toolOutputBudgetTokens'),
});

const PLACE = /^(?<modelPrefix>[\w.-]*)(?:\/(?<profile>assistant|coding|gemini-cli))?$/;

/** By which rows are sorted: the length of the beginning, then whether a profile is named. */
const rankOf = ({ modelPrefix = '', profile }: PolicyTableEntry): number =>
  2 * modelPrefix.length + (profile === undefined ? 0 : 1);

/**
 * A deployment's own rows, `{"gemini-2.5-pro/coding": {"thresholdTokens": 64000}}`, as the policy takes them. A key is
 * the beginning of a model's id, of all models where it is empty, and after a slash the profile, of all
 * profiles where there is none. The longer beginning comes first, then the row that names a profile.
 */
export const thresholdRowsSchema = z
  .record(z.string().regex(PLACE), rowSettingsSchema)
  .transform((rows): readonly PolicyTableEntry[] =>
    Object.entries(rows)
      .map(([place, settings]): PolicyTableEntry => {
        const { modelPrefix, profile } = PLACE.exec(place)?.groups ?? {};
        return {
          ...(modelPrefix !== undefined && { modelPrefix }),
          ...(profile !== undefined && { profile }),
          settings,
        };
      })
      .toSorted((a, b) => rankOf(b) - rankOf(a)),
  );

/** The first row that fits a model, with or without `models/`, and a profile. */
export function findRow<Row extends PolicyTableEntry>(
  rows: readonly Row[],
  wanted: { model: string; profile: string },
): Row | undefined {
  const name = modelName(wanted.model);
  return rows.find(
    ({ modelPrefix = '', profile }) =>
      name.startsWith(modelName(modelPrefix)) &&
      (profile === undefined || profile === wanted.profile),
  );
}
