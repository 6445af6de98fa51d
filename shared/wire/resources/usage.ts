import type { CallerTier } from '#shared/ports/ports.ts';
import type { QuotaLimits } from '#shared/quota/reserve-decision.ts';
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
} from '#shared/quota/usage.ts';
import { time } from '../fields.ts';
import { z } from 'zod';

export const healthResponse = z.object({ status: z.literal('ok') });

const quotaLine = z.object({
  limit: z.number().nonnegative().nullable().describe('null: no limit.'),
  used: z.number().nonnegative(),
  reserved: z.number().nonnegative().describe('Held by answers on their way.'),
  left: z.number().nonnegative().nullable().describe('null: no limit.'),
  resetTime: time.nullable().describe('When the count begins anew; null: as others end.'),
});

const work = z.object({
  runs: z.number().int().nonnegative(),
  tokens: z.number().nonnegative(),
  costMicros: z.number().nonnegative(),
});

/** What the caller may take, has taken, and has left. */
export const usageResponse = z.object({
  day: z.iso.date().describe('The day in UTC that is counted.'),
  tier: z.enum(['anonymous', 'signedIn']),
  limits: z.object({
    messagesPerDay: quotaLine,
    tokensPerDay: quotaLine.describe('Uncached input and output, thoughts included.'),
    costMicrosPerDay: quotaLine.describe(
      'Millionths of a US dollar; compactions, titles, routing and condensing included.',
    ),
    creationsPerDay: quotaLine.describe(
      'Conversations, forks, devices and notes that were made; a fork counts once for every 100 turns.',
    ),
    requestsPerMinute: quotaLine,
    streams: quotaLine.describe('Answers on their way.'),
  }),
  compactions: work.describe('Of this day; they count into costMicrosPerDay alone.'),
  titles: work.describe('Of this day; they count into costMicrosPerDay alone.'),
  condensing: work.describe(
    'Tool outputs that a cheap model condensed before the next call: dollars, no message and no tokens of the day.',
  ),
  routing: work.describe(
    'Choices of a model, of this day; they count into costMicrosPerDay alone.',
  ),
});
export type UsageResponse = z.infer<typeof usageResponse>;

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
  const workView = (name: WorkName) => {
    const { runs, tokens: used, costMicros } = usage[name];
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
