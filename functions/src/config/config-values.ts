import { z } from 'zod';
import { modelPricesSchema } from '#shared/models/model-entry.ts';
import { thresholdRowsSchema } from '#shared/compaction/threshold-table.ts';
import { variantsSchema } from '#shared/compaction/variants.ts';
import { readSnapshotKeys } from './snapshot-keys.ts';

/* How the environment's texts become values; the variables stand in config.ts. */

/** A whole number from text, with its default and bounds. */
export const integer = (fallback: number, bounds: { min: number; max: number }) =>
  z.coerce.number().int().min(bounds.min).max(bounds.max).default(fallback);

/** US dollars from text, with a default. */
export const usd = (fallback: number) => z.coerce.number().min(0).max(1_000_000).default(fallback);

const itemsOf = (text: string) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

/** Words from text with commas between them. */
export const list = z.string().default('').transform(itemsOf);

/** As `list`, with a default; `none` stands for no words, as an empty text would for the default. */
export const listOr = (fallback: string) =>
  z
    .string()
    .default(fallback)
    .transform((text) => (text.trim() === 'none' ? [] : itemsOf(text)));

/** JSON of `schema`, by default an empty object. What is wrong is said with the example. */
const json = <Schema extends z.ZodType>(schema: Schema, problem: string) =>
  z
    .string()
    .default('{}')
    .transform((text, context): z.output<Schema> => {
      try {
        return schema.parse(JSON.parse(text));
      } catch {
        context.addIssue(problem);
        return z.NEVER;
      }
    });

/** Windows by model, from JSON. */
export const windows = json(
  z.record(z.string(), z.number().int().positive()),
  'must be a JSON object of model id to tokens, e.g. {"gemini-2.5-flash":32000}',
);

/** Prices by model, from JSON. */
export const prices = json(
  modelPricesSchema,
  'must be a JSON object of model id to prices, e.g. {"gemini-2.5-flash":{"input":0.3,"cached":0.03,"output":2.5}}',
);

/** Thresholds by model and profile, from JSON. */
export const thresholdRows = json(
  thresholdRowsSchema,
  'must be a JSON object of model/profile to settings, e.g. {"gemini-2.5-pro/coding":{"thresholdTokens":64000}}',
);

/** The arms of a comparison, from JSON. */
export const variants = json(
  variantsSchema,
  'must be a JSON object of name to settings with shares of at most 1 in all, e.g. {"small":{"share":0.1,"thresholdTokens":12000}}',
);

/** Signing keys, from text; what is wrong with them is said without them. */
export const snapshotKeys = z
  .string()
  .default('')
  .transform((text, context) => {
    try {
      return readSnapshotKeys(text);
    } catch (error) {
      // Says which key, and nothing of what was given.
      context.addIssue(error instanceof Error ? error.message : 'cannot be read');
      return z.NEVER;
    }
  });
