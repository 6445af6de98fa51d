import {
  findModel,
  type ModelTable,
  type ModelEntry,
  modelEntrySchema,
  hasSuccessorLoop,
} from './model-entry.ts';
import { modelRegistry } from './model-registry.ts';
import { z } from 'zod';

/** Window in tokens by model id; a key that ends in `*` stands for every id that begins so. */
export type WindowOverrides = Readonly<Record<string, number>>;

/** Assumed of a model that no table knows: the window of every current Gemini model. */
const ASSUMED_WINDOW_TOKENS = 1_048_576;

/** Unlike a name of the registry, an id without a star covers no versions. */
const isOverriddenBy = (name: string, id: string): boolean =>
  name.endsWith('*') && id.startsWith(name.slice(0, -1));

/**
 * Tokens that fit into one call of `model` (with or without `models/`). Overrides win over the table;
 * a model that neither knows is taken to have 1,048,576.
 */
export const contextWindowTokens = (
  model: string,
  overrides: WindowOverrides = {},
  models: ModelTable = modelRegistry,
): number =>
  findModel(overrides, model, isOverriddenBy) ??
  findModel(models, model)?.windowTokens ??
  ASSUMED_WINDOW_TOKENS;

/** What a model may be known by: the table, and what the deployment says of models itself. */
export interface KnownModels {
  models: ModelTable;
  /** By model id: MODEL_WINDOWS and MODEL_PRICES. */
  windows: Readonly<Record<string, unknown>>;
  prices: Readonly<Record<string, unknown>>;
  /** Models that the deployment itself answers by. */
  named: readonly string[];
}

/** A resource of one project, such as a tuned model or an endpoint of Vertex AI: its name is no model's. */
const OWN_RESOURCE = /^(?:projects|tunedModels)\//;

/** How many names a sentence lists. */
const NAMES_LISTED = 8;

/** Whether a model can exist: the table or the deployment knows it, or it is a resource of somebody's own project. */
export const isKnownModel = (model: string, { models, windows, prices, named }: KnownModels) =>
  OWN_RESOURCE.test(model) ||
  named.includes(model) ||
  [models, windows, prices].some((table) => findModel<unknown>(table, model) !== undefined);

/** Names that are one model each and go on being served. */
const currentModels = ({ models, windows, prices, named }: KnownModels): string[] =>
  [
    ...new Set([
      ...named,
      ...Object.keys(windows),
      ...Object.keys(prices),
      ...Object.entries(models).flatMap(([name, { retirement }]) => (retirement ? [] : [name])),
    ]),
  ].filter((name) => !name.endsWith('*'));

/** Share of a window that a prompt may take: room for the answer and for the error of the estimate. */
const PROMPT_FRACTION = 0.8;

/** Tokens that a prompt may have in a window. */
export const promptLimitTokens = (windowTokens: number): number =>
  Math.floor(PROMPT_FRACTION * windowTokens);

/** For whoever named a model that is not known: which ones are. */
export const unknownModelAdvice = (known: KnownModels): string =>
  `Known are ${currentModels(known).slice(0, NAMES_LISTED).join(', ')}`;

/** An entry of the document; null takes a retirement back that the registry knows. */
const remoteEntrySchema = modelEntrySchema.extend({
  retirement: modelEntrySchema.shape.retirement.nullable(),
});

const recordSchema = z.record(z.string().min(1).max(200), z.unknown());

/** Most entries that are read: more is a mistake. */
const MOST_ENTRIES = 100;

/** What the registry knows of the model stays where the entry says nothing. */
function withEntry(models: ModelTable, name: string, value: unknown): ModelTable | undefined {
  const parsed = remoteEntrySchema.safeParse(value);
  if (!parsed.success) return undefined;
  const { retirement, ...fields } = parsed.data;
  const { retirement: known, ...base }: ModelEntry = findModel(models, name) ?? {};
  const wanted = retirement === undefined ? known : (retirement ?? undefined);
  const entry = { ...base, ...fields, ...(wanted && { retirement: wanted }) };
  const added = { ...models, [name]: entry };
  return hasSuccessorLoop(name, added) ? undefined : added;
}

/**
 * The registry with the entries of a remote document before its own, one by one: what is unusable, or names a
 * successor that leads back to it, is left out and named in `unusable` as `models.<name>`.
 */
export function readRemoteModels(value: unknown): { models: ModelTable; unusable: string[] } {
  if (value === undefined || value === null) return { models: modelRegistry, unusable: [] };
  const record = recordSchema.safeParse(value);
  if (!record.success || Object.keys(record.data).length > MOST_ENTRIES)
    return { models: modelRegistry, unusable: ['models'] };
  let models: ModelTable = modelRegistry;
  const unusable: string[] = [];
  for (const [name, entry] of Object.entries(record.data)) {
    const added = withEntry(models, name, entry);
    if (added === undefined) unusable.push(`models.${name}`);
    else models = added;
  }
  return { models, unusable };
}
