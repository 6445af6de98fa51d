import type { QuotaLimits, QuotaSettings } from '../../../shared/quota/limits.ts';
import type { Config } from '../config.ts';

/** Micro-dollars of a dollar. */
const MICROS = 1_000_000;

/** Shards of the day's budget: so many answers may end in one second before their writes meet. */
export const BUDGET_SHARDS = 10;

/** How long what was read of the budget is believed, ms. */
export const BUDGET_CACHE_MS = 10_000;

/**
 * Tokens that a reservation holds for the answer, beside those of the prompt. A heuristic: a chat answer has
 * 100 to 1,000 with its thoughts; what is more is settled, and can go beyond the limit by that.
 */
export const RESERVED_ANSWER_TOKENS = 500;

const micros = (usd: number) => Math.round(usd * MICROS);

/** The limits that the environment sets. */
export function quotaSettings(config: Config): QuotaSettings {
  const shared: Pick<QuotaLimits, 'streams' | 'costMicrosPerDay'> = {
    streams: config.STREAMS_PER_USER,
    costMicrosPerDay: micros(config.USER_DAILY_USD),
  };
  return {
    byTier: {
      anonymous: {
        ...shared,
        messagesPerDay: config.ANONYMOUS_DAILY_MESSAGES,
        tokensPerDay: config.ANONYMOUS_DAILY_TOKENS,
        requestsPerMinute: config.ANONYMOUS_REQUESTS_PER_MINUTE,
      },
      signedIn: {
        ...shared,
        messagesPerDay: config.USER_DAILY_MESSAGES,
        tokensPerDay: config.USER_DAILY_TOKENS,
        requestsPerMinute: config.USER_REQUESTS_PER_MINUTE,
      },
    },
    globalCostMicrosPerDay: micros(config.GLOBAL_DAILY_USD),
  };
}
