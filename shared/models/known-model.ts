import { findModel, type ModelTable } from './model-entry.ts';

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

/** For whoever named a model that is not known: which ones are. */
export const unknownModelAdvice = (known: KnownModels): string =>
  `Known are ${currentModels(known).slice(0, NAMES_LISTED).join(', ')}`;
