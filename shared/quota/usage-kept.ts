import { noUsage, type Usage } from './usage.ts';

type Work = Usage['titles'];

const workSum = (kept: Work, later: Work): Work => ({
  ...later,
  runs: kept.runs + later.runs,
  tokens: kept.tokens + later.tokens,
  costMicros: kept.costMicros + later.costMicros,
});

/**
 * What of a day's figures outlives the erasure of their user, until the day ends: else erasing oneself would give
 * anybody the day's quota anew, as often as wanted. Sums and the times of the last minute; no id.
 */
export const usageKept = (usage: Usage): Usage => ({
  ...noUsage,
  messages: usage.messages,
  tokens: usage.tokens,
  costMicros: usage.costMicros,
  created: usage.created,
  compactions: usage.compactions,
  titles: usage.titles,
  routing: usage.routing,
  condensing: usage.condensing,
  begun: usage.begun,
});

/** What was counted before an erasure, with what was counted behind it. */
export const usageSum = (kept: Usage, later: Usage): Usage => ({
  ...later,
  messages: kept.messages + later.messages,
  tokens: kept.tokens + later.tokens,
  costMicros: kept.costMicros + later.costMicros,
  created: kept.created + later.created,
  compactions: workSum(kept.compactions, later.compactions),
  titles: workSum(kept.titles, later.titles),
  routing: workSum(kept.routing, later.routing),
  condensing: workSum(kept.condensing, later.condensing),
  begun: [...kept.begun, ...later.begun],
});
