import { z } from 'zod';
import { modelPricesSchema } from '#shared/models/model-entry.ts';

/* How the environment's texts become values; the variables stand in environment.ts. */

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
