import { knownPrice } from '#shared/models/find-price.ts';
import { verifiedModels } from '#test/support/verified-models.ts';
import type { Price } from '../eval-arguments.ts';
import type { EvalResult } from './eval-run.ts';

/** The price of a model where it is given or known. */
export const priceOf = (model: string, given: Price | undefined): Price | undefined =>
  given ?? knownPrice(model, verifiedModels);

/** US dollars of all calls of a conversation's compactions. */
export const costOf = (
  { promptTokens, outputTokens }: Pick<EvalResult, 'promptTokens' | 'outputTokens'>,
  price: Price,
): number => (promptTokens * price.input + outputTokens * price.output) / 1_000_000;
