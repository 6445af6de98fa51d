import { type ModelsConfig, callCostMicros } from '#functions/models/models-in-use.ts';
import type { TurnUsage } from '#shared/conversation/documents/turn.ts';
import { reportedCall } from '#shared/models/find-price.ts';
import type { ModelUsage } from '#shared/ports/ports.ts';

/** What one call reported, with what it cost. */
export const pricedUsage = (config: ModelsConfig, model: string, usage: ModelUsage): TurnUsage => ({
  ...usage,
  costMicros: callCostMicros(config, reportedCall(model, usage)),
});

const combined = (
  sum: TurnUsage,
  other: TurnUsage,
  combine: (one: number, two: number) => number,
): TurnUsage => ({
  promptTokens: combine(sum.promptTokens, other.promptTokens),
  cachedTokens: combine(sum.cachedTokens, other.cachedTokens),
  outputTokens: combine(sum.outputTokens, other.outputTokens),
  thoughtsTokens: combine(sum.thoughtsTokens, other.thoughtsTokens),
  ...((sum.toolTokens !== undefined || other.toolTokens !== undefined) && {
    toolTokens: combine(sum.toolTokens ?? 0, other.toolTokens ?? 0),
  }),
  ...((sum.searches !== undefined || other.searches !== undefined) && {
    searches: combine(sum.searches ?? 0, other.searches ?? 0),
  }),
  ...(sum.costMicros !== undefined &&
    other.costMicros !== undefined && {
      costMicros: combine(sum.costMicros, other.costMicros),
    }),
});

/** The usage of several calls; without a cost where that of one is not known. */
export const addUsage = (sum: TurnUsage | undefined, more: TurnUsage | undefined) =>
  sum && more ? combined(sum, more, (one, two) => one + two) : (sum ?? more);

/** The part of a usage that has not been charged yet. */
export const usageBeyond = (usage: TurnUsage | undefined, settled: TurnUsage | undefined) =>
  usage && settled ? combined(usage, settled, (one, two) => Math.max(0, one - two)) : usage;
