import { findModel, modelName, type ModelTable } from './model-entry.ts';
import { registry } from './registry.ts';

/** Window in tokens by model id; a key that ends in `*` stands for every id that begins so. */
export type WindowOverrides = Readonly<Record<string, number>>;

/** Assumed of a model that no table knows: the window of every current Gemini model. */
const ASSUMED_WINDOW_TOKENS = 1_048_576;

/** The exact id wins, then the longest prefix with a star: unlike a name of the registry, an id covers no versions. */
function findOverride(overrides: WindowOverrides, model: string): number | undefined {
  const id = modelName(model);
  let best: { length: number; tokens: number } | undefined;
  for (const [key, tokens] of Object.entries(overrides)) {
    const name = modelName(key);
    if (name === id) return tokens;
    if (!name.endsWith('*') || !id.startsWith(name.slice(0, -1))) continue;
    if (best === undefined || name.length > best.length) best = { length: name.length, tokens };
  }
  return best?.tokens;
}

/**
 * Tokens that fit into one call of `model` (with or without `models/`). Overrides win over the table;
 * a model that neither knows is taken to have 1,048,576.
 */
export const contextWindowTokens = (
  model: string,
  overrides: WindowOverrides = {},
  models: ModelTable = registry,
): number =>
  findOverride(overrides, model) ?? findModel(models, model)?.windowTokens ?? ASSUMED_WINDOW_TOKENS;
