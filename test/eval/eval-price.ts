import type { Price } from './eval-arguments.ts';
import type { EvalResult } from './eval-run.ts';

/** US dollars for a million tokens, prompts up to 200,000 tokens; list prices that change: see --price. */
const listPrices: Readonly<Record<string, Price>> = {
  'gemini-2.5-flash-lite': { input: 0.1, output: 0.4 },
  'gemini-2.5-flash': { input: 0.3, output: 2.5 },
  'gemini-2.5-pro': { input: 1.25, output: 10 },
  'gemini-3-flash-preview': { input: 0.5, output: 3 },
  'gemini-3-pro-preview': { input: 2, output: 12 },
};

/** The price of a model where it is given or known. */
export const priceOf = (model: string, given: Price | undefined): Price | undefined =>
  given ?? listPrices[model];

/** US dollars of all calls of a conversation's compactions. */
export const costOf = (
  { promptTokens, outputTokens }: Pick<EvalResult, 'promptTokens' | 'outputTokens'>,
  price: Price,
): number => (promptTokens * price.input + outputTokens * price.output) / 1_000_000;
