import { findTailStart, sumSteps, type Conversation } from './conversation.ts';
import {
  billFolds,
  callDollars,
  nextCall,
  placeAfterSwap,
  summaryDollars,
  type Fold,
  type Means,
  type Rates,
} from './bill.ts';
import { operationDollars } from './prices.ts';

/** After a compaction, and the cheapest way to it. */
interface Stage extends Fold {
  dollars: number;
  before?: Stage;
}

interface Pricing {
  rates: Rates;
  means: Means;
}

const listWay = (stage: Stage | undefined): Fold[] =>
  stage?.before === undefined
    ? []
    : [...listWay(stage.before), { end: stage.end, start: stage.start }];

/** Every compaction that may be, by the step that it follows: after any turn but the last, with any of the tails. */
function listStages(
  { steps }: Conversation,
  tails: readonly number[],
  sums: readonly number[],
): Stage[][] {
  const stages: Stage[][] = steps.map((_, index) => {
    if (index === 0 || steps[index - 1]?.isTurnEnd !== true) return [];
    const starts = new Set(tails.map((tail) => findTailStart(sums, index, tail)));
    return [...starts]
      .filter((start) => start > 0)
      .map((start) => ({ end: index, start, dollars: Infinity }));
  });
  stages[0] = [{ end: 0, start: 0, dollars: 0 }];
  return stages;
}

/**
 * `rest[n]`: what the steps from n on cost at least, whatever is compacted: each has the snapshot and the step before in
 * its prompt, and the cache holds as much of it as it ever may.
 */
function leastRest(
  { steps, overheadTokens, hitFraction }: Conversation,
  snapshotTokens: number,
  { rates, means }: Pricing,
): number[] {
  const rest = [0];
  const turnDollars = operationDollars(means.turn, rates.cloud);
  for (const [back, { inputTokens, outputTokens, isTurnStart }] of steps.toReversed().entries()) {
    const before = steps[steps.length - back - 2];
    const kept = before === undefined ? 0 : before.inputTokens + before.outputTokens;
    const promptTokens = overheadTokens + snapshotTokens + kept + inputTokens;
    const call = { promptTokens, cachedTokens: hitFraction * promptTokens, outputTokens };
    const dollars = callDollars(rates.model.price, call) + (isTurnStart ? turnDollars : 0);
    rest.push((rest.at(-1) ?? 0) + dollars);
  }
  return rest.toReversed();
}

/** Goes on from a stage without compacting, and offers its cost to each stage that it comes by; its cost at the end. */
function walk(
  stage: Stage,
  world: { conversation: Conversation; stages: Stage[][]; sums: number[]; rest: number[] },
  { rates, means, isTooDear }: Pricing & { isTooDear: (dollars: number) => boolean },
): number {
  const { conversation, stages, sums, rest } = world;
  const { steps, overheadTokens, hitFraction } = conversation;
  const isFirst = stage.end === 0;
  const coveredTokens = sums[stage.start] ?? 0;
  const snapshotTokens = isFirst ? 0 : means.summariser.snapshotTokens;
  const recalledTokens = isFirst ? 0 : means.recalledTokens;
  const turnDollars = operationDollars(means.turn, rates.cloud);
  const foldDollars = operationDollars(means.compaction, rates.cloud);
  const keptTokens = (sums[stage.end] ?? 0) - coveredTokens;
  let place = placeAfterSwap(snapshotTokens + keptTokens, overheadTokens);
  const { cacheFromTokens } = rates.model;
  let { dollars } = stage;
  for (let index = stage.end; index < steps.length; index++) {
    const step = steps[index];
    if (step === undefined || isTooDear(dollars + (rest[index] ?? 0))) return Infinity;
    const from = { ...place, recalledTokens, windowTokens: Infinity, cacheFromTokens };
    const next = nextCall(conversation, step, from);
    if (next.call.promptTokens > rates.windowTokens) return Infinity;
    dollars += callDollars(rates.model.price, next.call) + (step.isTurnStart ? turnDollars : 0);
    ({ place } = next);
    for (const after of stages[index + 1] ?? []) {
      if (after.start <= stage.start || dollars + foldDollars >= after.dollars) continue;
      const readTokens = snapshotTokens + (sums[after.start] ?? 0) - coveredTokens;
      const summary = summaryDollars(rates, means.summariser, { readTokens, hitFraction });
      const through = dollars + foldDollars + summary;
      if (through < after.dollars) Object.assign(after, { dollars: through, before: stage });
    }
  }
  return dollars;
}

/**
 * The compactions with which a conversation costs the least: an offline optimum by dynamic programming. It knows every
 * size and price in advance, may compact after any turn with any of the tails, and drops nothing that the window has no
 * room for. No policy that decides as the conversation goes can be cheaper with the same summariser, recall and tails.
 * `known` are compactions of that kind which it may return, too: the better they are, the sooner it ends.
 */
export function cheapestFolds(
  conversation: Conversation,
  tails: readonly number[],
  { known = [], ...pricing }: Pricing & { known?: readonly (readonly Fold[])[] },
): readonly Fold[] {
  const sums = sumSteps(conversation.steps);
  const stages = listStages(conversation, tails, sums);
  const { snapshotTokens } = pricing.means.summariser;
  const [restBefore, restAfter] = [0, snapshotTokens].map((tokens) =>
    leastRest(conversation, tokens, pricing),
  );
  let best: { folds: readonly Fold[]; dollars: number } = { folds: [], dollars: Infinity };
  for (const folds of known) {
    const dollars = (billFolds(conversation, folds, pricing).total * conversation.turns) / 1_000;
    if (dollars < best.dollars) best = { folds, dollars };
  }
  for (const stage of stages.flat()) {
    const rest = (stage.end === 0 ? restBefore : restAfter) ?? [];
    const isTooDear = (dollars: number) => dollars >= best.dollars;
    const world = { conversation, stages, sums, rest };
    const dollars = walk(stage, world, { ...pricing, isTooDear });
    if (dollars < best.dollars) best = { folds: listWay(stage), dollars };
  }
  return best.folds;
}
