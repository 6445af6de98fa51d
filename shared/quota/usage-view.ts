import type { CallerTier } from '#shared/ports/ports.ts';
import type { UsageResponse } from '../wire/resources/usage.ts';
import type { QuotaLimits } from './reserve-decision.ts';
import {
  MINUTE_MS,
  type Usage,
  type WorkName,
  begunWithin,
  countStreams,
  heldAt,
  heldMessages,
  nextDay,
  noUsage,
  openAt,
  sumOfCosts,
  toDay,
  totalSpentMicros,
} from './usage.ts';

/** A limit of 0 is none. */
function limitView(
  limit: number,
  used: number,
  { reserved, resetTime }: { reserved: number; resetTime: Date | null },
) {
  return {
    limit: limit === 0 ? null : limit,
    used,
    reserved,
    left: limit === 0 ? null : Math.max(0, limit - used - reserved),
    resetTime: resetTime?.toISOString() ?? null,
  };
}

/** What a user sees of the limits and of what is left of them. */
export function usageView(input: {
  usage: Usage;
  /** Figures of the day before, shortly after midnight. */
  dayBefore?: Usage | undefined;
  limits: QuotaLimits;
  tier: CallerTier;
  now: Date;
}): UsageResponse {
  const { usage, dayBefore = noUsage, limits, tier, now } = input;
  const { messages, tokens } = usage;
  const open = openAt(usage, now);
  const streams = countStreams([...open, ...openAt(dayBefore, now)]);
  const begun = [...begunWithin(dayBefore, now), ...begunWithin(usage, now)];
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
      messagesPerDay: limitView(limits.messagesPerDay, messages, {
        reserved: heldMessages(open),
        resetTime,
      }),
      tokensPerDay: limitView(limits.tokensPerDay, tokens, {
        reserved: open.reduce((sum, each) => sum + each.tokens, 0),
        resetTime,
      }),
      costMicrosPerDay: limitView(limits.costMicrosPerDay, totalSpentMicros(usage), {
        reserved: sumOfCosts(open) + sumOfCosts(heldAt(usage.held, now)),
        resetTime,
      }),
      creationsPerDay: limitView(limits.creationsPerDay, usage.created, { reserved: 0, resetTime }),
      requestsPerMinute: limitView(limits.requestsPerMinute, begun.length, {
        reserved: 0,
        resetTime: minuteEnd,
      }),
      streams: limitView(limits.streams, streams, { reserved: 0, resetTime: null }),
    },
    compactions: workView('compactions'),
    titles: workView('titles'),
    routing: workView('routing'),
    condensing: workView('condensing'),
  };
}
