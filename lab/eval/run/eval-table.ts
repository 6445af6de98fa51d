import { knownPrice } from '#shared/models/find-price.ts';
import { aligned } from '#infra/text-table.ts';
import { verifiedModels } from '#test/support/verified-models.ts';
import type { Price } from '../eval-arguments.ts';
import type { EvalResult } from './eval-run.ts';

const missing = '-';

/** The price of a model where it is given or known. */
export const priceOf = (model: string, given: Price | undefined): Price | undefined =>
  given ?? knownPrice(model, verifiedModels);

const whole = (value: number | undefined): string =>
  value === undefined ? missing : String(Math.round(value));

/** US dollars of all calls of a conversation's compactions. */
const dollars = ({ promptTokens, outputTokens }: EvalResult, price: Price | undefined): string =>
  price === undefined
    ? missing
    : ((promptTokens * price.input + outputTokens * price.output) / 1_000_000).toFixed(4);

type Column = readonly [
  title: string,
  value: (result: EvalResult, price: Price | undefined) => string,
];

const columns: readonly Column[] = [
  ['conversation', ({ id }) => id],
  ['outcome', ({ state }) => state],
  ['gen', ({ generations }) => String(generations)],
  ['keepFrom', ({ keepFrom }) => whole(keepFrom)],
  ['before', ({ beforeTokens }) => whole(beforeTokens)],
  ['after', ({ afterTokens }) => whole(afterTokens)],
  ['snapshot', ({ snapshotTokens }) => whole(snapshotTokens)],
  ['marked', ({ marked }) => whole(marked)],
  ['calls', ({ calls }) => String(calls)],
  ['read', ({ promptTokens }) => whole(promptTokens)],
  ['written', ({ outputTokens }) => whole(outputTokens)],
  ['US$', dollars],
  ['ms', ({ durationMs }) => whole(durationMs)],
];

/** The table of a whole evaluation, one line a conversation, and why some have no snapshot. */
export function evalText(results: readonly EvalResult[], price: Price | undefined): string {
  const titles = columns.map(([title]) => title);
  const rows = results.map((result) => columns.map(([, value]) => value(result, price)));
  const failures = results
    .filter(({ snapshot }) => snapshot === undefined)
    .map(({ id, state, reason }) => `${id}: ${state}${reason === undefined ? '' : ` (${reason})`}`);
  return [aligned([titles, ...rows]), ...failures].join('\n');
}
