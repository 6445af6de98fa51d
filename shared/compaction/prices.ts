import { z } from 'zod';
import type { ModelUsage } from '../ports.ts';
import { modelName } from './model-name.ts';

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

/** Prices by the beginning of the model's id. */
export const modelPricesSchema = z.record(z.string().min(1), modelPriceSchema);
export type ModelPrice = z.infer<typeof modelPriceSchema>;
export type ModelPrices = Readonly<Record<string, ModelPrice>>;

const gemini3Pro: ModelPrice = {
  input: 2,
  cached: 0.2,
  output: 12,
  above: { promptTokens: 200_000, input: 4, cached: 0.4, output: 18 },
};

/**
 * Text prices of the Gemini API, paid tier, standard calls. Origin: ai.google.dev/gemini-api/docs/pricing as
 * public tables quoted it between March and July 2026. Prices change: `MODEL_PRICES` overrides them.
 */
export const listPrices: ModelPrices = {
  'gemini-3.5-flash': { input: 1.5, cached: 0.15, output: 9 },
  'gemini-3.1-pro': gemini3Pro,
  'gemini-3.1-flash-lite': { input: 0.25, cached: 0.025, output: 1.5 },
  'gemini-3-pro': gemini3Pro,
  'gemini-3-flash': { input: 0.5, cached: 0.05, output: 3 },
  'gemini-2.5-pro': {
    input: 1.25,
    cached: 0.125,
    output: 10,
    above: { promptTokens: 200_000, input: 2.5, cached: 0.25, output: 15 },
  },
  'gemini-2.5-flash': { input: 0.3, cached: 0.03, output: 2.5 },
  'gemini-2.5-flash-lite': { input: 0.1, cached: 0.01, output: 0.4 },
};

/** What may follow the beginning in an id of the same model: a version or a stage, and not `-lite`. */
const SAME_MODEL = /^(?:$|@|-(?:\d|preview|latest|exp))/;

function priceIn(prices: ModelPrices, model: string): ModelPrice | undefined {
  const name = modelName(model);
  const [longest] = Object.keys(prices)
    .filter((prefix) => name.startsWith(prefix) && SAME_MODEL.test(name.slice(prefix.length)))
    .toSorted((a, b) => b.length - a.length);
  return longest === undefined ? undefined : prices[longest];
}

/** The price of a model: the deployment's own, else the list's; undefined: not known. */
export const priceOf = (model: string, own: ModelPrices = {}): ModelPrice | undefined =>
  priceIn(own, model) ?? priceIn(listPrices, model);

export interface PricedCall {
  model: string;
  /** Cached ones included. */
  promptTokens: number;
  cachedTokens: number;
  /** Thoughts included. */
  outputTokens: number;
}

/** What one call cost, in millionths of a US dollar; undefined where the price is not known. */
export function costMicros(call: PricedCall, own: ModelPrices = {}): number | undefined {
  const price = priceOf(call.model, own);
  if (price === undefined) return undefined;
  const isAbove = price.above !== undefined && call.promptTokens > price.above.promptTokens;
  const rates = isAbove ? price.above : price;
  if (rates === undefined) return undefined;
  const cached = Math.min(call.cachedTokens, call.promptTokens);
  const micros =
    rates.input * (call.promptTokens - cached) +
    rates.cached * cached +
    rates.output * call.outputTokens;
  return Math.round(micros);
}

/** What a call cost that the model reported so; undefined where the price is not known. */
export const usageCostMicros = (
  model: string,
  { promptTokens, cachedTokens, outputTokens, thoughtsTokens }: ModelUsage,
  own: ModelPrices = {},
): number | undefined =>
  costMicros(
    { model, promptTokens, cachedTokens, outputTokens: outputTokens + thoughtsTokens },
    own,
  );
