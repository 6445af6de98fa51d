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
