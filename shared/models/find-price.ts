import type { ModelUsage } from '../ports/ports.ts';
import {
  findModel,
  type ModelCatalog,
  type ModelEntry,
  type ModelPrice,
  utcDay,
} from './model-entry.ts';

type Pricing = Pick<ModelCatalog, 'models' | 'prices' | 'now'>;

/** The price that holds on a day; before the first one, the first. */
function priceOn(day: string, { prices = [] }: ModelEntry): ModelPrice | undefined {
  const ordered = prices.toSorted((one, other) => (one.from < other.from ? -1 : 1));
  return (ordered.findLast(({ from }) => from <= day) ?? ordered[0])?.rates;
}

/** The price of a model at this moment: the deployment's own, else the table's; undefined: not known. */
export function knownPrice(
  model: string,
  { models, prices, now }: Pricing,
): ModelPrice | undefined {
  const own = findModel(prices, model);
  if (own !== undefined) return own;
  const entry = findModel(models, model);
  return entry && priceOn(utcDay(now), entry);
}

/**
 * No price that is known at this moment is above this one, in any of its rates. What has no price is taken to cost
 * this: a limit in dollars that held nothing back would be none.
 */
export function dearestPrice({ models, prices, now }: Pricing): ModelPrice {
  const day = utcDay(now);
  const listed = Object.values(models).flatMap((entry) => priceOn(day, entry) ?? []);
  const rates = [...Object.values(prices), ...listed].flatMap((price) => [
    price,
    price.above ?? price,
  ]);
  if (rates.length === 0) throw new RangeError('no model has a price: the table has none');
  return {
    input: Math.max(...rates.map(({ input }) => input)),
    cached: Math.max(...rates.map(({ cached }) => cached)),
    output: Math.max(...rates.map(({ output }) => output)),
  };
}

/** The price that a model is charged at; where none is known, the dearest one. */
export const findPrice = (model: string, pricing: Pricing): ModelPrice =>
  knownPrice(model, pricing) ?? dearestPrice(pricing);

export interface PricedCall {
  model: string;
  /** Cached ones included. */
  promptTokens: number;
  cachedTokens: number;
  /** Thoughts included. */
  outputTokens: number;
  /** What Google's tools gave the model to read, and the searches that they made. */
  toolTokens?: number | undefined;
  searches?: number | undefined;
}

/** What Google's searches for one call cost: each, or all together. */
function searchMicros({ model, searches = 0 }: PricedCall, { models }: Pricing): number {
  const known = findModel(models, model)?.grounding;
  if (known === undefined || searches === 0) return 0;
  return known.searchUsd * 1_000 * (known.searchUnit === 'query' ? searches : 1);
}

/** What the tokens of a call cost at a price, in millionths of a US dollar and fractions of them. */
export function tokenMicros(
  price: ModelPrice,
  { promptTokens, cachedTokens, outputTokens, toolTokens = 0 }: Omit<PricedCall, 'model'>,
): number {
  const { above } = price;
  const rates = above !== undefined && promptTokens > above.promptTokens ? above : price;
  const cached = Math.min(cachedTokens, promptTokens);
  return (
    rates.input * (promptTokens - cached + toolTokens) +
    rates.cached * cached +
    rates.output * outputTokens
  );
}

/** What one call cost, in millionths of a US dollar. */
export const costMicros = (call: PricedCall, pricing: Pricing): number =>
  Math.round(tokenMicros(findPrice(call.model, pricing), call) + searchMicros(call, pricing));

/** The call that a model reported so. */
export const reportedCall = (
  model: string,
  { promptTokens, cachedTokens, outputTokens, thoughtsTokens, toolTokens, searches }: ModelUsage,
): PricedCall => ({
  model,
  promptTokens,
  cachedTokens,
  outputTokens: outputTokens + thoughtsTokens,
  toolTokens,
  searches,
});
