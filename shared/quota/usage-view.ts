import type { CallerTier } from '../ports/ports.ts';
import type { UsageResponse } from '../wire/resources/usage.ts';
import { toDay, nextDay } from './day.ts';
import type { LimitName, QuotaLimits } from './limits.ts';
import {
  begunWithin,
  heldAt,
  MINUTE_MS,
  openAt,
  totalSpentMicros,
  sumOfCosts,
  type Usage,
  type WorkName,
} from './usage.ts';

/** What a user sees of the limits and of what is left of them. */
export function usageView(input: {
  usage: Usage;
  limits: QuotaLimits;
  tier: CallerTier;
  now: Date;
}): UsageResponse {
  const { usage, limits, tier, now } = input;
  const { messages, tokens } = usage;
  const open = openAt(usage, now);
  const begun = begunWithin(usage, now);
  const line = (
    name: LimitName,
    used: number,
    at: { reserved: number; resetTime: Date | null },
  ) => ({
    limit: limits[name] === 0 ? null : limits[name],
    used,
    reserved: at.reserved,
    left: limits[name] === 0 ? null : Math.max(0, limits[name] - used - at.reserved),
    resetTime: at.resetTime?.toISOString() ?? null,
  });
  const workView = (work: WorkName) => {
    const { runs, tokens: used, costMicros } = usage[work];
    return { runs, tokens: used, costMicros };
  };
  const resetTime = nextDay(now);
  const [oldest] = begun;
  const minuteEnd = oldest ? new Date(oldest.getTime() + MINUTE_MS) : null;
  return {
    day: toDay(now),
    tier,
    limits: {
      messagesPerDay: line('messagesPerDay', messages, { reserved: open.length, resetTime }),
      tokensPerDay: line('tokensPerDay', tokens, {
        reserved: open.reduce((sum, each) => sum + each.tokens, 0),
        resetTime,
      }),
      costMicrosPerDay: line('costMicrosPerDay', totalSpentMicros(usage), {
        reserved: sumOfCosts(open) + sumOfCosts(heldAt(usage.held, now)),
        resetTime,
      }),
      creationsPerDay: line('creationsPerDay', usage.created, { reserved: 0, resetTime }),
      requestsPerMinute: line('requestsPerMinute', begun.length, {
        reserved: 0,
        resetTime: minuteEnd,
      }),
      streams: line('streams', open.length, { reserved: 0, resetTime: null }),
    },
    compactions: workView('compactions'),
    titles: workView('titles'),
    routing: workView('routing'),
    condensing: workView('condensing'),
  };
}
