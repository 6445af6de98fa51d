import { modelName } from './model-name.ts';
import { windowConstants } from './token-constants.ts';

/** Window in tokens by model id; a key that ends in `*` stands for every id that begins so. */
export type WindowOverrides = Readonly<Record<string, number>>;

const builtIn: WindowOverrides = {
  'gemini-1.5-pro*': windowConstants.windowTokensGemini15Pro.value,
  'gemma-4-31b*': windowConstants.windowTokensGemma4.value,
  'gemma-4-26b*': windowConstants.windowTokensGemma4.value,
  'gemma-3-*': windowConstants.windowTokensGemma3.value,
  'gemma-3-270m*': windowConstants.windowTokensGemma3Small.value,
  'gemma-3-1b*': windowConstants.windowTokensGemma3Small.value,
  'gemma-3n*': windowConstants.windowTokensGemma3Small.value,
  'gemma-2*': windowConstants.windowTokensGemma2.value,
};

/** A table by the names that it means. */
const named = (table: WindowOverrides): (readonly [wanted: string, tokens: number])[] =>
  Object.entries(table).map(([key, tokens]) => [modelName(key), tokens]);

const namedBuiltIn = named(builtIn);

/** The exact id wins, then the longest prefix. */
function find(
  table: readonly (readonly [wanted: string, tokens: number])[],
  name: string,
): number | undefined {
  let best: { length: number; tokens: number } | undefined;
  for (const [wanted, tokens] of table) {
    if (wanted === name) return tokens;
    if (!wanted.endsWith('*') || !name.startsWith(wanted.slice(0, -1))) continue;
    if (best === undefined || wanted.length > best.length) best = { length: wanted.length, tokens };
  }
  return best?.tokens;
}

/**
 * Tokens that fit into one call of `model` (with or without `models/`). Overrides win over the table;
 * a model that neither knows is taken to have 1,048,576.
 */
export function contextWindowTokens(model: string, overrides: WindowOverrides = {}): number {
  const name = modelName(model);
  return (
    find(named(overrides), name) ?? find(namedBuiltIn, name) ?? windowConstants.windowTokens.value
  );
}
