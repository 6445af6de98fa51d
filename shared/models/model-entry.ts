import { z } from 'zod';

/** The bare id of a model: `models/x`, `publishers/google/models/x` and `x` are all `x`. */
export function modelName(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1).toLowerCase();
}

const usdPerMillion = z.number().nonnegative().max(10_000);

/** US dollars for a million tokens. Thoughts cost what other output costs. */
const ratesSchema = z.strictObject({
  input: usdPerMillion,
  /** Prompt tokens that were served from the cache. */
  cached: usdPerMillion,
  output: usdPerMillion,
});

const modelPriceSchema = ratesSchema.extend({
  /** The whole call costs this where its prompt has more tokens. */
  above: ratesSchema.extend({ promptTokens: z.number().int().positive() }).optional(),
});
export type ModelPrice = z.infer<typeof modelPriceSchema>;

/** Prices by model; a name covers its versions. */
export const modelPricesSchema = z.record(z.string().min(1), modelPriceSchema);
type ModelPrices = Readonly<Record<string, ModelPrice>>;

/** Where a model is called: Google shuts the same model down on different days. */
export type Platform = 'geminiApi' | 'vertex';

/** Days of UTC. What begins on a day begins with its first moment. */
const daySchema = z.iso.date();

const tokensSchema = z.number().int().positive();
const modelSchema = z.string().min(1).max(200);

const retirementSchema = z.strictObject({
  /** From this day on the model is not called; absent: no day is announced. */
  geminiApi: daySchema.optional(),
  vertex: daySchema.optional(),
  /** Is called in its place. */
  successor: modelSchema,
});

/** How a model takes Google's own tools (Search, reading addresses), and what a search costs. */
const modelGroundingSchema = z.strictObject({
  /** Whether they may stand beside functions; else a request with functions goes without them. */
  withFunctions: z.boolean(),
  /** US dollars for a thousand searches, or for a thousand calls that searched at all. */
  searchUsd: z.number().nonnegative().max(10_000),
  searchUnit: z.enum(['query', 'call']),
});
export type ModelGrounding = z.infer<typeof modelGroundingSchema>;

/** Files of a kind that one prompt may have; a kind that is missing has no bound of its own. */
const promptFilesSchema = z.strictObject({
  image: z.number().int().positive().optional(),
  video: z.number().int().positive().optional(),
  document: z.number().int().positive().optional(),
});
export type PromptFiles = z.infer<typeof promptFilesSchema>;

/** When conversations with a model are compacted, and what stays verbatim, where that differs from the default. */
const thresholdsSchema = z.strictObject({
  thresholdFraction: z.number().gt(0).max(1).optional(),
  thresholdTokens: tokensSchema.optional(),
  tailTokens: tokensSchema.optional(),
});

/** What is known of a model or of a family; a field that is missing is not known. */
export const modelEntrySchema = z.strictObject({
  /** Tokens of one call: prompt, thoughts and answer together. */
  windowTokens: tokensSchema.optional(),
  /** Tokens of the longest answer of one call, thoughts included. */
  outputTokens: tokensSchema.optional(),
  promptFiles: promptFilesSchema.optional(),
  /** Prompts with fewer tokens in common with an earlier one are not served from its cache; absent: it has none. */
  cacheFromTokens: tokensSchema.optional(),
  /** Each price holds from its day until the next one; the first also holds before. */
  prices: z
    .array(z.strictObject({ from: daySchema, rates: modelPriceSchema }))
    .min(1)
    .readonly()
    .optional(),
  retirement: retirementSchema.optional(),
  /** Absent: the model is not sent Google's tools. */
  grounding: modelGroundingSchema.optional(),
  /** By profile; the profile `gemini-cli` is what it is. */
  thresholds: z
    .strictObject({ assistant: thresholdsSchema.optional(), coding: thresholdsSchema.optional() })
    .optional(),
});
export type ModelEntry = z.infer<typeof modelEntrySchema>;

/** Entries by name: an id or its beginning, which covers its versions; with `*` at its end, all ids that begin so. */
export type ModelTable = Readonly<Record<string, ModelEntry>>;

/** The models as they are at one moment on one platform. */
export interface ModelCatalog {
  models: ModelTable;
  /** Prices that the deployment sets; they win. */
  prices: ModelPrices;
  platform: Platform;
  now: Date;
}

/** The day of UTC, to be compared with the days of entries. */
export const utcDay = (now: Date): string => now.toISOString().slice(0, 10);

/** What may follow the name of a model in an id of the same model: its version or stage, and not `-lite` or `-image`. */
const VERSION = /^(?:-(?:preview|latest|exp|customtools|\d+))*(?:@.*)?$/;

const covers = (name: string, id: string): boolean =>
  name.endsWith('*')
    ? id.startsWith(name.slice(0, -1))
    : id.startsWith(name) && VERSION.test(id.slice(name.length));

/** What a table by model says of an id (with or without `models/`): the longest name that covers it decides. */
export function findModel<Value>(
  table: Readonly<Record<string, Value>>,
  model: string,
  isCovered: (name: string, id: string) => boolean = covers,
): Value | undefined {
  const id = modelName(model);
  let best: { name: string; key: string } | undefined;
  for (const key of Object.keys(table)) {
    const name = modelName(key);
    if (name === id) return table[key];
    if (!isCovered(name, id)) continue;
    if (best === undefined || name.length > best.name.length) best = { name, key };
  }
  return best && table[best.key];
}

/** When a model was shut down, and what is called in its place. */
export interface Retirement {
  day: string;
  successor: string;
}

/** The retirement of a model whose day has come on the catalog's platform; undefined while it is in service. */
export function findRetirement(
  model: string,
  { models, platform, now }: Pick<ModelCatalog, 'models' | 'platform' | 'now'>,
): Retirement | undefined {
  const retirement = findModel(models, model)?.retirement;
  const day = retirement?.[platform];
  if (retirement === undefined || day === undefined || utcDay(now) < day) return undefined;
  return { day, successor: retirement.successor };
}

/** The model that is called: this one, or the first of its successors that is in service. */
export function modelInService(
  model: string,
  catalog: Pick<ModelCatalog, 'models' | 'platform' | 'now'>,
): string {
  let current = model;
  // A chain is never longer than the table: a loop, which readers of tables refuse, would end here.
  for (const _ of Object.keys(catalog.models)) {
    const retirement = findRetirement(current, catalog);
    if (retirement === undefined) return current;
    current = retirement.successor;
  }
  return current;
}

/** Whether following successors from a model, on whatever day, comes back to where it was. */
export function hasSuccessorLoop(model: string, models: ModelTable): boolean {
  const seen = new Set<unknown>();
  for (let entry = findModel(models, model); entry?.retirement !== undefined;) {
    if (seen.has(entry)) return true;
    seen.add(entry);
    entry = findModel(models, entry.retirement.successor);
  }
  return false;
}
