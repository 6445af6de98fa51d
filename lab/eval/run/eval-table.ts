import type { FactKind } from '#shared/compaction/facts/index/fact.ts';
import { aligned } from '#infra/text-table.ts';
import type { Price } from '../eval-arguments.ts';
import type { Share } from './eval-measure.ts';
import { costOf } from './eval-price.ts';
import type { EvalResult } from './eval-run.ts';

const missing = '-';

const percent = (share: Share | undefined): string =>
  share === undefined || share.facts === 0
    ? missing
    : ((100 * share.held) / share.facts).toFixed(1);

const whole = (value: number | undefined): string =>
  value === undefined ? missing : String(Math.round(value));

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
  ['recall 1', ({ measure }) => percent(measure?.recall[1])],
  ['recall 2', ({ measure }) => percent(measure?.recall[2])],
  ['carried 1', ({ measure }) => percent(measure?.carried[1])],
  ['carried 2', ({ measure }) => percent(measure?.carried[2])],
  ['carried 3', ({ measure }) => percent(measure?.carried[3])],
  ['precision', ({ measure }) => percent(measure?.precision)],
  ['verbatim', ({ measure }) => percent(measure?.verbatim)],
  ['left of 1st', ({ retention }) => percent(retention)],
  ['calls', ({ calls }) => String(calls)],
  ['read', ({ promptTokens }) => whole(promptTokens)],
  ['written', ({ outputTokens }) => whole(outputTokens)],
  ['US$', (result, price) => (price === undefined ? missing : costOf(result, price).toFixed(4))],
  ['ms', ({ durationMs }) => whole(durationMs)],
];

function add(sum: Share, share: Share): Share {
  return { facts: sum.facts + share.facts, held: sum.held + share.held };
}

/** By kind of fact, over all conversations: how many the tail does not hold, and which share is carried. */
function kindLines(results: readonly EvalResult[]): string[] {
  const kinds = new Map<FactKind, Share>();
  for (const { measure } of results) {
    for (const [kind, share] of measure?.carriedByKind ?? [])
      kinds.set(kind, add(kinds.get(kind) ?? { facts: 0, held: 0 }, share));
  }
  return [...kinds]
    .toSorted(([, a], [, b]) => b.facts - a.facts)
    .map(([kind, share]) => `${kind} ${percent(share)} of ${share.facts}`);
}

/** The table of a whole evaluation, one line a conversation, and what is carried of each kind of fact. */
export function evalText(results: readonly EvalResult[], price: Price | undefined): string {
  const titles = columns.map(([title]) => title);
  const rows = results.map((result) => columns.map(([, value]) => value(result, price)));
  const failures = results
    .filter(({ measure }) => measure === undefined)
    .map(({ id, state, reason }) => `${id}: ${state}${reason === undefined ? '' : ` (${reason})`}`);
  const kinds = kindLines(results);
  return [
    aligned([titles, ...rows]),
    ...(kinds.length === 0 ? [] : [`carried, tiers 1 and 2: ${kinds.join(', ')}`]),
    ...failures,
  ].join('\n');
}
